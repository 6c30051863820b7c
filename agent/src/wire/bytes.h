// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A growable byte string.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// After a failed allocation it sets failed and ignores further appends.
struct weft_bytes {
    uint8_t *data;
    size_t len;
    size_t cap;
    bool failed;
};

void weft_bytes_free(struct weft_bytes *b);
void weft_bytes_append(struct weft_bytes *b, const void *data, size_t len);
