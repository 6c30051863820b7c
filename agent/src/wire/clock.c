// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/clock.h"

enum { READINGS = 20 };

void weft_clock_condition(pthread_cond_t *condition) {
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &clock);
    pthread_condattr_destroy(&clock);
}

bool weft_clock_await(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until) {
    const struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    return pthread_cond_timedwait(condition, mutex, &at) == 0;
}

bool weft_clock_lock(pthread_mutex_t *mutex, int64_t until) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    while (pthread_mutex_trylock(mutex) != 0) {
        if (weft_clock() >= until) {
            return false;
        }
        nanosleep(&millisecond, NULL);
    }
    return true;
}

struct weft_moment weft_clock_moment_by(int64_t (*monotonic)(void), int64_t (*wall)(void)) {
    struct weft_moment best = {0};
    int64_t closest = INT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        int64_t before = monotonic();
        int64_t between = wall();
        int64_t took = monotonic() - before;
        if (took < closest) {
            closest = took;
            best = (struct weft_moment){.wall = between, .monotonic = before + took / 2};
        }
    }
    return best;
}

struct weft_moment weft_clock_moment(void) {
    return weft_clock_moment_by(weft_clock, weft_clock_wall);
}

bool weft_clock_allow(_Atomic int64_t *next, int per_second) {
    const int64_t second = 1000000000;
    int64_t now = weft_clock();
    int64_t due = atomic_load_explicit(next, memory_order_relaxed);
    int64_t after;
    do {
        if (due > now) {
            return false;
        }
        after = (due < now - second ? now - second : due) + second / per_second;
    } while (!atomic_compare_exchange_weak(next, &due, after));
    return true;
}
