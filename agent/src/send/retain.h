// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches that may have to be sent again: the unacknowledged ones, oldest first.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_batch {
    struct weft_batch *next;
    uint64_t sequence;    // as the agent counts; its frame may have another since a renumbering
    uint64_t definitions; // end of the definitions it needs in the log
    size_t len;
    uint8_t data[];
};

struct weft_retain {
    struct weft_batch *oldest;
    struct weft_batch *newest;
    struct weft_batch *unsent; // the oldest not yet sent on this connection; NULL: none
    size_t bytes;
    size_t limit;
};

// Whether the limit is reached. The last batch may have exceeded it.
bool weft_retain_full(const struct weft_retain *r);

// Copies a batch. Returns false if out of memory.
bool weft_retain_add(struct weft_retain *r, uint64_t sequence, uint64_t definitions,
                     const void *data, size_t len);

// Drops acknowledged batches. None of them may be unsent, unless rewind follows.
void weft_retain_drop(struct weft_retain *r, uint64_t acked);

// Advances unsent.
void weft_retain_sent(struct weft_retain *r);

// Marks all batches as unsent for a new connection.
void weft_retain_rewind(struct weft_retain *r);
