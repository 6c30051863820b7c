// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that each wait is counted once, in the right bucket, with any number of threads and
// collects.

#include "record/aggregate.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"
#include "options/settings.h"
#include "record/sums.h"
#include "wire/histogram.h"

enum { SERIES = 64 };

// The collected sums.
static struct {
    uint64_t waits[64];
    int64_t sum[64];
    int64_t max[64];
    uint64_t overflow;
    uint64_t series;
    bool full;
} got;

static bool room(void *to) {
    (void)to;
    return !got.full;
}

static void put(void *to, const struct weft_series *s, const uint64_t *buckets, uint16_t count) {
    uint64_t waits = s->zero;
    (void)to;
    for (uint16_t i = 0; i < count; i++) {
        waits += buckets[i];
    }
    got.waits[s->kind] += waits;
    got.sum[s->kind] += s->sum;
    got.max[s->kind] = s->max > got.max[s->kind] ? s->max : got.max[s->kind];
    got.overflow += (s->flags & WEFT_SERIES_OVERFLOW) != 0 ? waits : 0;
    got.series++;
}

static void collect(void) {
    weft_sums_collect(&(struct weft_sink){room, put, NULL});
}

static void forget(void) {
    collect();
    memset(&got, 0, sizeof got);
}

static void event(struct weft_open_waits *open, uint16_t kind, int64_t time, uint32_t class_id,
                  uint32_t stack) {
    struct weft_record r = {.kind = kind, .time = time, .class_id = class_id, .stack = stack};
    if (weft_aggregate_takes(open, kind, true)) {
        weft_aggregate_take(open, &r, 1);
    }
}

// Compares with the mathematical definition, next to and on each boundary.
TEST(buckets_are_those_of_the_exponential_histogram) {
    CHECK_INT(weft_histogram_bucket(1), -1);
    CHECK_INT(weft_histogram_bucket(2), 3);
    CHECK_INT(weft_histogram_bucket(3), 6);
    CHECK_INT(weft_histogram_bucket(INT64_MAX), WEFT_BUCKETS + WEFT_FIRST_BUCKET - 1);
    for (int i = 0; i < 4 * 62; i++) {
        long double boundary = exp2l((long double)i / 4);
        int64_t below = (int64_t)floorl(boundary);
        for (int64_t v = below > 3 ? below - 2 : 1; v <= below + 2; v++) {
            int index = weft_histogram_bucket(v);
            CHECK(exp2l((long double)index / 4) < (long double)v);
            CHECK(exp2l((long double)(index + 1) / 4) >= (long double)v);
        }
    }
}

TEST(a_wait_is_the_sum_of_its_states) {
    struct weft_open_waits open = {0};
    forget();
    event(&open, WEFT_EV_WAIT, 1000, 7, 3);
    event(&open, WEFT_EV_WAITED, 1500, 7, 0);
    event(&open, WEFT_EV_CONTENDED_ENTER, 1600, 7, 3);
    event(&open, WEFT_EV_CONTENDED_ENTERED, 1900, 7, 0);
    event(&open, WEFT_EV_WAIT_RETURNED, 2000, 7, 0);
    event(&open, WEFT_EV_PARK, 3000, 8, 4);
    event(&open, WEFT_EV_UNPARKED, 3000, 0, 0);
    event(&open, WEFT_EV_SLEEP_START, 4000, 0, 4);
    event(&open, WEFT_EV_SLEEP_END, 4010, 0, 0);
    event(&open, WEFT_EV_NOTIFY, 4010, 7, 0);
    collect();
    CHECK_INT(got.sum[WEFT_EV_WAIT], 500);
    CHECK_INT(got.sum[WEFT_EV_CONTENDED_ENTER], 300);
    CHECK_INT(got.sum[WEFT_EV_WAITED], 200);
    CHECK_INT(got.waits[WEFT_EV_PARK], 1);
    CHECK_INT(got.sum[WEFT_EV_PARK], 0);
    CHECK_INT(got.sum[WEFT_EV_SLEEP_START], 10);
    CHECK_INT(got.series, 5);
    memset(&got, 0, sizeof got);
    collect();
    CHECK_INT(got.series, 0);
}

// The mode changes while threads wait: both events of a wait go the same way.
TEST(an_end_goes_where_its_beginning_went) {
    struct weft_open_waits open = {0};
    forget();
    CHECK(!weft_aggregate_takes(&open, WEFT_EV_PARK, false));
    CHECK(!weft_aggregate_takes(&open, WEFT_EV_UNPARKED, true));
    event(&open, WEFT_EV_CONTENDED_ENTER, 10, 1, 1);
    CHECK(weft_aggregate_takes(&open, WEFT_EV_CONTENDED_ENTERED, false));
    struct weft_open_waits fresh = {0};
    event(&fresh, WEFT_EV_UNPARKED, 10, 0, 0); // it parked before recording began
    collect();
    CHECK_INT(got.series, 0);
}

// The mode changes twice while a thread waits: the wait is still summed.
TEST(a_wait_survives_mode_changes) {
    struct weft_options options;
    struct weft_open_waits open = {0};
    weft_options_default(&options);
    atomic_store(&weft_tracing, true);
    options.aggregated = true;
    weft_settings_apply(&options);
    event(&open, WEFT_EV_PARK, 1000, 1, 2);
    for (int i = 0; i < 2; i++) {
        options.aggregated = !options.aggregated;
        weft_settings_apply(&options);
    }
    event(&open, WEFT_EV_UNPARKED, 1500, 0, 0);
    collect();
    CHECK_INT(got.waits[WEFT_EV_PARK], 1);
    event(&open, WEFT_EV_PARK, 2000, 1, 2);
    weft_settings_record(false); // unless its end may have been missed
    weft_settings_record(true);
    event(&open, WEFT_EV_UNPARKED, 2500, 0, 0);
    collect();
    CHECK_INT(got.waits[WEFT_EV_PARK], 1);
    atomic_store(&weft_tracing, false);
    forget();
}

TEST(virtual_threads_wait_across_threads) {
    struct weft_record r = {.kind = WEFT_EV_WAIT, .time = 100, .class_id = 2};
    forget();
    CHECK(weft_aggregate_takes_virtual(99, r.kind, true));
    weft_aggregate_take_virtual(99, &r, 1);
    r = (struct weft_record){.kind = WEFT_EV_WAITED, .time = 130};
    CHECK(weft_aggregate_takes_virtual(99, r.kind, false));
    CHECK(!weft_aggregate_takes_virtual(98, r.kind, false));
    weft_aggregate_take_virtual(99, &r, 2);
    collect();
    CHECK_INT(got.sum[WEFT_EV_WAIT], 30);
}

// A thread whose wait ended during a blackout frees its slot.
TEST(a_stale_virtual_thread_frees_its_slot) {
    struct weft_record r = {.kind = WEFT_EV_PARK, .time = 100, .class_id = 2};
    const uint64_t other = 99 + 16384;
    forget();
    weft_aggregate_take_virtual(99, &r, 1);
    weft_settings_record(true);
    weft_settings_record(false);
    weft_aggregate_take_virtual(other, &r, 1);
    r = (struct weft_record){.kind = WEFT_EV_UNPARKED, .time = 107};
    weft_aggregate_take_virtual(99, &r, 1);
    weft_aggregate_take_virtual(other, &r, 1);
    collect();
    CHECK_INT(got.waits[WEFT_EV_PARK], 1);
    CHECK_INT(got.sum[WEFT_EV_PARK], 7);
}

TEST(sums_without_room_stay) {
    struct weft_open_waits open = {0};
    forget();
    event(&open, WEFT_EV_PARK, 0, 1, 1);
    event(&open, WEFT_EV_UNPARKED, 5, 0, 0);
    got.full = true;
    collect();
    CHECK_INT(got.series, 0);
    CHECK(weft_sums_have_news());
    got.full = false;
    collect();
    CHECK_INT(got.sum[WEFT_EV_PARK], 5);
}

TEST(further_waits_share_one_series) {
    struct weft_open_waits open = {0};
    forget();
    for (uint32_t stack = 1; stack <= 1000; stack++) {
        event(&open, WEFT_EV_PARK, 0, 1, stack);
        event(&open, WEFT_EV_UNPARKED, stack, 0, 0);
    }
    collect();
    CHECK_INT(got.waits[WEFT_EV_PARK], 1000);
    CHECK_INT(got.sum[WEFT_EV_PARK], 500500);
    CHECK_INT(got.max[WEFT_EV_PARK], 1000);
    CHECK(got.overflow > 900);
    CHECK(got.series <= SERIES + 1);
}

enum { THREADS = 8, WAITS = 100000 };

static atomic_int running;

static void *work(void *argument) {
    struct weft_open_waits open = {0};
    unsigned home = *(unsigned *)argument;
    for (int i = 0; i < WAITS; i++) {
        struct weft_record begin = {.kind = WEFT_EV_PARK, .stack = (uint32_t)(i % 3)};
        struct weft_record end = {.kind = WEFT_EV_UNPARKED, .time = i % 1000};
        weft_aggregate_take(&open, &begin, home);
        weft_aggregate_take(&open, &end, home);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

TEST(nothing_is_lost_between_many_threads_and_the_sender) {
    pthread_t threads[THREADS];
    static unsigned homes[THREADS];
    forget();
    atomic_store(&running, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        homes[i] = i % 2; // so that they collide
        pthread_create(&threads[i], NULL, work, &homes[i]);
    }
    while (atomic_load(&running) > 0) {
        collect();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    collect();
    CHECK_INT(got.waits[WEFT_EV_PARK], (int64_t)THREADS * WAITS);
    CHECK_INT(got.sum[WEFT_EV_PARK], (int64_t)THREADS * WAITS / 1000 * 499500);
    CHECK_INT(got.max[WEFT_EV_PARK], 999);
}

int main(void) {
    CHECK(weft_sums_init(SERIES));
    RUN(buckets_are_those_of_the_exponential_histogram);
    RUN(a_wait_is_the_sum_of_its_states);
    RUN(an_end_goes_where_its_beginning_went);
    RUN(a_wait_survives_mode_changes);
    RUN(virtual_threads_wait_across_threads);
    RUN(a_stale_virtual_thread_frees_its_slot);
    RUN(sums_without_room_stay);
    RUN(nothing_is_lost_between_many_threads_and_the_sender);
    RUN(further_waits_share_one_series);
    return harness_end("aggregate");
}
