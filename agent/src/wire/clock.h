// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What time is it? Nanoseconds of the monotonic clock, the one clock of all events.

#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

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

// The same moment on both clocks.
struct weft_moment {
    int64_t wall;
    int64_t monotonic;
};

// Between the readings of two clocks a thread may lose its processor, so they are compared several
// times and the quickest comparison counts.
struct weft_moment weft_clock_moment(void);
struct weft_moment weft_clock_moment_by(int64_t (*monotonic)(void), int64_t (*wall)(void));

// A token bucket of a second's worth of permits. Next is its state, 0 at first.
bool weft_clock_allow(_Atomic int64_t *next, int per_second);

#endif
