// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which events are one wait, and how long was it? The aggregated mode: instead of being sent, the
// events of a wait are put together here, and added up (sums.h). Nothing here asks the JVM.

#ifndef WEFT_AGGREGATE_H
#define WEFT_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// The waits of a thread that are not over: at most one for a monitor, within one of another kind.
struct weft_open_wait {
    int64_t since;
    uint32_t class_id;
    uint32_t stack;
    uint32_t blackouts; // that had been when it began
    uint16_t kind;      // of the event that began it; 0: none did that was seen
};

struct weft_open_waits {
    struct weft_open_wait blocked;
    struct weft_open_wait call;
    int64_t left_set; // when the thread left the wait set; 0: it has not
    int64_t blocked_since_left;
};

// Whether an event goes here and not to the buffers, given the mode: an end goes to where its
// beginning went. Ask for each event, once.
bool weft_aggregate_takes(struct weft_open_waits *open, uint16_t kind, bool aggregated);

// Takes an event of a thread. Home tells which table is tried first: any number, the same for a
// thread.
void weft_aggregate_take(struct weft_open_waits *open, const struct weft_record *record,
                         unsigned home);

// The same two for a virtual thread, whose waits begin and end on different platform threads.
bool weft_aggregate_takes_virtual(uint64_t thread, uint16_t kind, bool aggregated);
void weft_aggregate_take_virtual(uint64_t thread, const struct weft_record *record, unsigned home);

#endif
