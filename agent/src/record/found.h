// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual threads that a snapshot found parked. Their records are in the buffers of their carriers,
// so a position in a buffer does not show whether such a thread has continued since, as it does for
// platform threads. Instead, the snapshot notes the thread before it looks, and the thread removes
// itself when it is mounted, before it reads the clock: as long as it is here, all that it records
// is older than what the snapshot saw, or younger than now.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The most threads that are noted at once.
enum { WEFT_FOUND_MAX = 1 << 14 };

extern atomic_int weft_found_count;

// Removes what is left of threads before the newest blackout. A snapshot begins so.
void weft_found_sweep(void);

// Notes a thread unless it is noted already. False if the table is full.
bool weft_found_note(uint64_t id);

// Whether a thread was noted and has not been mounted since.
bool weft_found_is(uint64_t id);

// Removes a thread. Returns its entry, as in hotspot/by_id.h; 0: none.
uint64_t weft_found_forget(uint64_t id);

static inline bool weft_found_any(void) {
    return atomic_load_explicit(&weft_found_count, memory_order_relaxed) != 0;
}
