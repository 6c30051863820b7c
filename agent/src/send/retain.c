// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/retain.h"

#include <stdlib.h>
#include <string.h>

bool weft_retain_full(const struct weft_retain *r) {
    return r->bytes >= r->limit;
}

bool weft_retain_add(struct weft_retain *r, uint64_t sequence, uint64_t definitions,
                     const void *data, size_t len) {
    struct weft_batch *batch = malloc(sizeof *batch + len);
    if (batch == NULL) {
        return false;
    }
    *batch = (struct weft_batch){.sequence = sequence, .definitions = definitions, .len = len};
    memcpy(batch->data, data, len);
    if (r->newest == NULL) {
        r->oldest = batch;
    } else {
        r->newest->next = batch;
    }
    r->newest = batch;
    if (r->unsent == NULL) {
        r->unsent = batch;
    }
    r->bytes += sizeof *batch + len;
    return true;
}

void weft_retain_drop(struct weft_retain *r, uint64_t acked) {
    while (r->oldest != NULL && r->oldest->sequence <= acked) {
        struct weft_batch *batch = r->oldest;
        r->oldest = batch->next;
        if (r->oldest == NULL) {
            r->newest = NULL;
        }
        r->bytes -= sizeof *batch + batch->len;
        free(batch);
    }
}

void weft_retain_sent(struct weft_retain *r) {
    r->unsent = r->unsent->next;
}

void weft_retain_rewind(struct weft_retain *r) {
    r->unsent = r->oldest;
}
