// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of the two clocks.

#include "wire/clock.h"

#include <stdbool.h>

#include "harness.h"

enum { OFFSET = 1000000, BUSY = 5000 };

static int64_t now;
static int readings;
static int quick; // the undisturbed comparison; -1: none

// Each reading takes 10 ns; after one of two the thread loses its processor.
static int64_t fake_monotonic(void) {
    bool first = readings++ % 2 == 0;
    int64_t read = now += 10;
    if (first && (readings - 1) / 2 != quick) {
        now += BUSY + (int64_t)readings * 100;
    }
    return read;
}

static int64_t fake_wall(void) {
    return OFFSET + (now += 10);
}

static int64_t error_with(int quick_one) {
    now = 0;
    readings = 0;
    quick = quick_one;
    struct weft_moment m = weft_clock_moment_by(fake_monotonic, fake_wall);
    return m.wall - m.monotonic - OFFSET;
}

TEST(the_fastest_comparison_wins) {
    CHECK_INT(error_with(0), 0);
    CHECK_INT(error_with(7), 0);
    CHECK_INT(error_with(19), 0);
    CHECK(readings > 20);
}

TEST(the_middle_halves_the_error) {
    CHECK(error_with(-1) <= (BUSY + 200) / 2);
    CHECK(error_with(-1) > 0);
}

TEST(the_real_clocks_are_consistent) {
    struct weft_moment a = weft_clock_moment();
    struct weft_moment b = weft_clock_moment();
    int64_t apart = (b.wall - a.wall) - (b.monotonic - a.monotonic);
    CHECK(b.monotonic > a.monotonic);
    CHECK(apart < 1000000000 && apart > -1000000000); // the wall clock may be set meanwhile
}

int main(void) {
    RUN(the_fastest_comparison_wins);
    RUN(the_middle_halves_the_error);
    RUN(the_real_clocks_are_consistent);
    return harness_end("clock");
}
