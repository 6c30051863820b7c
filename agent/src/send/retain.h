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
    struct weft_batch *unsent; // the oldest that is not sent on this connection; NULL: none
    size_t bytes;
    size_t limit;
};

// Full: nothing should be added. The last batch before may have gone over the limit.
bool weft_retain_full(const struct weft_retain *r);

// Copies a batch. False if there is no memory.
bool weft_retain_add(struct weft_retain *r, uint64_t sequence, uint64_t definitions,
                     const void *data, size_t len);

// Acknowledged batches go. None of them may be unsent, or else rewind must follow.
void weft_retain_drop(struct weft_retain *r, uint64_t acked);

// The batch unsent was sent.
void weft_retain_sent(struct weft_retain *r);

// A new connection: nothing was sent on it.
void weft_retain_rewind(struct weft_retain *r);

#endif
