// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock of all events: nanoseconds of the monotonic clock.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline int64_t weft_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t weft_clock_wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// One moment on both clocks.
struct weft_moment {
    int64_t wall;
    int64_t monotonic;
};

// Compares the clocks several times and keeps the fastest comparison, because the thread may lose
// its processor between two readings.
struct weft_moment weft_clock_moment(void);
struct weft_moment weft_clock_moment_by(int64_t (*monotonic)(void), int64_t (*wall)(void));

// A token bucket that holds a second's worth of tokens. Next is its state, initially 0.
bool weft_clock_allow(_Atomic int64_t *next, int per_second);
