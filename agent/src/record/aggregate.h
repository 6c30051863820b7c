// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Combines the events of a wait in aggregated mode and adds its duration to the sums (sums.h).
// Makes no JVM calls.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// The open waits of a thread: at most one for a monitor, nested in one of another kind.
struct weft_open_wait {
    int64_t since;
    uint32_t class_id;
    uint32_t stack;
    uint32_t blackouts; // blackouts when it began
    uint16_t kind;      // of the event that began it; 0: none was seen
};

struct weft_open_waits {
    struct weft_open_wait blocked;
    struct weft_open_wait call;
    int64_t left_set; // when the thread left the wait set; 0: not yet
    int64_t blocked_since_left;
};

// Whether an event belongs here rather than in the buffers, given the mode: the end of a wait goes
// where its beginning went. Call once per event.
bool weft_aggregate_takes(struct weft_open_waits *open, uint16_t kind, bool aggregated);

// Adds an event of a thread. Home selects the table to try first: any number, constant per thread.
void weft_aggregate_take(struct weft_open_waits *open, const struct weft_record *record,
                         unsigned home);

// The same for virtual threads, whose waits begin and end on different platform threads.
bool weft_aggregate_takes_virtual(uint64_t thread, uint16_t kind, bool aggregated);
void weft_aggregate_take_virtual(uint64_t thread, const struct weft_record *record, unsigned home);
