// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/bytes.h"

#include <stdlib.h>
#include <string.h>

void weft_bytes_free(struct weft_bytes *b) {
    free(b->data);
    *b = (struct weft_bytes){0};
}

void weft_bytes_append(struct weft_bytes *b, const void *data, size_t len) {
    if (b->failed || len == 0) {
        return;
    }
    if (b->cap - b->len < len) {
        size_t cap = b->cap < 256 ? 256 : b->cap * 2;
        while (cap - b->len < len) {
            cap *= 2;
        }
        uint8_t *grown = realloc(b->data, cap);
        if (grown == NULL) {
            b->failed = true;
            return;
        }
        b->data = grown;
        b->cap = cap;
    }
    memcpy(b->data + b->len, data, len);
    b->len += len;
}
