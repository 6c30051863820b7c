// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The clock of all events: nanoseconds of the monotonic clock.

#pragma once

#include <pthread.h>
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

// Prepares a condition for weft_clock_await.
void weft_clock_condition(pthread_cond_t *condition);

// Waits for a condition until a time of this clock, whatever happens to the wall clock. False if
// that has come.
bool weft_clock_await(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until);

// Locks a mutex. False if it was not free until then. For rare uses: it looks each millisecond,
// because pthread_mutex_timedlock knows the wall clock only.
bool weft_clock_lock(pthread_mutex_t *mutex, int64_t until);

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
