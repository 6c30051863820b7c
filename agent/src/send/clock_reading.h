// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Both clocks are sent again: the wall clock may be set, and the machine suspended.

#pragma once

#include "wire/clock.h"
#include "wire/wire.h"

// How long a correction may take to be noticed.
static const int64_t WEFT_CLOCK_READING_NS = 1000000000;

// Appends a reading, unless that was done less than a second ago. Last is its state, initially 0.
static inline void weft_clock_reading_put(struct weft_bytes *b, int64_t *last, int64_t now) {
    if (*last == 0 || now - *last >= WEFT_CLOCK_READING_NS) {
        struct weft_moment moment = weft_clock_moment();
        weft_wire_put_clock(b, moment.wall, moment.monotonic);
        *last = now;
    }
}
