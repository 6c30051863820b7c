// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which batches might have to be sent again? Those that nobody has acknowledged, oldest first.

#ifndef WEFT_RETAIN_H
#define WEFT_RETAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_batch {
    struct weft_batch *next;
    uint64_t sequence;
    uint64_t definitions; // the log up to here has what the batch needs
    size_t len;
    uint8_t data[];
};

struct weft_retain {
    struct weft_batch *oldest;
    struct weft_batch *newest;
    size_t bytes;
    size_t limit;
};

// Full: nothing should be added. The last batch before may have gone over the limit.
bool weft_retain_full(const struct weft_retain *r);

// Copies a batch. False if there is no memory.
bool weft_retain_add(struct weft_retain *r, uint64_t sequence, uint64_t definitions,
                     const void *data, size_t len);
void weft_retain_drop(struct weft_retain *r, uint64_t acked);

// The oldest batch after the given one; NULL if there is none.
const struct weft_batch *weft_retain_after(const struct weft_retain *r, uint64_t sequence);

#endif
