// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/clock.h"

enum { READINGS = 20 };

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
