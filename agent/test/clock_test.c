// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of the two clocks, and waits by one of them.

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

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static bool signalled;

static void *tell(void *nothing) {
    pthread_mutex_lock(&mutex);
    signalled = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return nothing;
}

// For the wall clock, which counts from 1970, this time is over long since.
TEST(a_wait_ends_by_the_clock_of_events) {
    pthread_t other;
    int64_t until = weft_clock() + (int64_t)3600 * 1000000000;
    weft_clock_condition(&condition);
    pthread_mutex_lock(&mutex);
    CHECK_INT(pthread_create(&other, NULL, tell, NULL), 0);
    bool in_time = true;
    while (!signalled && in_time) {
        in_time = weft_clock_await(&condition, &mutex, until);
    }
    CHECK(in_time);
    CHECK(!weft_clock_await(&condition, &mutex, weft_clock()));
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

static void *lock(void *until) {
    bool locked = weft_clock_lock(&mutex, *(int64_t *)until);
    if (locked) {
        pthread_mutex_unlock(&mutex);
    }
    return locked ? until : NULL;
}

TEST(a_lock_is_given_up_by_the_clock_of_events) {
    pthread_t other;
    void *locked;
    int64_t until = weft_clock();
    pthread_mutex_lock(&mutex);
    CHECK_INT(pthread_create(&other, NULL, lock, &until), 0);
    pthread_join(other, &locked);
    CHECK(locked == NULL);
    pthread_mutex_unlock(&mutex);
    CHECK(lock(&until) == &until); // a free one, whatever the time
}

int main(void) {
    RUN(the_fastest_comparison_wins);
    RUN(the_middle_halves_the_error);
    RUN(the_real_clocks_are_consistent);
    RUN(a_wait_ends_by_the_clock_of_events);
    RUN(a_lock_is_given_up_by_the_clock_of_events);
    return harness_end("clock");
}
