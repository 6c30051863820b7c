// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a thread is not taken for running while some waits are not recorded.

#include <stddef.h>

#include "harness.h"
#include "options/settings.h"
#include "record/record.h"
#include "record/sums.h"

static struct weft_self self;
static struct weft_options options;

// Records events, and returns how many records that makes. The last ones are in taken.
static struct weft_record taken[16];

static size_t record(const uint16_t *kinds, size_t count) {
    const struct weft_scope scope = {.self = &self, .aggregated = options.aggregated};
    struct weft_buffer *b = self.buffer;
    const struct weft_record *run;
    size_t total = 0;
    size_t length;
    for (size_t i = 0; i < count; i++) {
        struct weft_record r = {.kind = kinds[i]};
        weft_record_now(&scope, &r);
    }
    while ((run = weft_buffer_peek(b, atomic_load(&b->written), &length)) != NULL) {
        memcpy(taken + total, run, length * sizeof *run);
        total += length;
        weft_buffer_advance(b, length);
    }
    return total;
}

static unsigned pauses_after(bool *option, bool on) {
    unsigned before = atomic_load(&weft_pauses);
    *option = on;
    weft_settings_apply(&options);
    return atomic_load(&weft_pauses) - before;
}

TEST(a_running_thread_is_known_if_all_waits_are_recorded) {
    CHECK_INT(record((uint16_t[]){WEFT_EV_SLEEP_START, WEFT_EV_SLEEP_END, WEFT_EV_NOTIFY}, 3), 3);
}

TEST(it_is_unknown_after_each_event_if_some_are_not) {
    CHECK_INT(pauses_after(&options.wait, false), 1);
    CHECK_INT(record((uint16_t[]){WEFT_EV_NOTIFY}, 1), 2);
    CHECK_INT(taken[0].kind, WEFT_EV_NOTIFY);
    CHECK_INT(taken[1].kind, WEFT_EV_GAP);
    CHECK_INT(taken[1].arg, 0);
    CHECK_INT(taken[1].time, taken[0].time);
    CHECK_INT(record((uint16_t[]){WEFT_EV_SLEEP_START}, 1), 1);
    CHECK_INT(record((uint16_t[]){WEFT_EV_SLEEP_END}, 1), 2);
    CHECK_INT(pauses_after(&options.wait, true), 0);
    CHECK_INT(record((uint16_t[]){WEFT_EV_NOTIFY}, 1), 1);
}

TEST(other_events_do_not_matter) {
    CHECK_INT(pauses_after(&options.notify, false), 0);
    CHECK_INT(record((uint16_t[]){WEFT_EV_SLEEP_START, WEFT_EV_SLEEP_END}, 2), 2);
    pauses_after(&options.notify, true);
}

TEST(a_wait_that_ends_in_aggregated_mode_leaves_the_thread_unknown) {
    CHECK_INT(record((uint16_t[]){WEFT_EV_PARK}, 1), 1);
    CHECK_INT(pauses_after(&options.aggregated, true), 1);
    CHECK_INT(record((uint16_t[]){WEFT_EV_UNPARKED}, 1), 2);
    CHECK_INT(taken[0].kind, WEFT_EV_UNPARKED);
    CHECK_INT(taken[1].kind, WEFT_EV_GAP);
    CHECK_INT(record((uint16_t[]){WEFT_EV_PARK, WEFT_EV_UNPARKED}, 2), 0);
    CHECK_INT(pauses_after(&options.aggregated, false), 0);
}

TEST(a_wait_that_is_too_short_leaves_nothing) {
    uint16_t short_wait[] = {WEFT_EV_CONTENDED_ENTER, WEFT_EV_CONTENDED_ENTERED};
    options.min_duration = 10000000000;
    pauses_after(&options.sleep, false);
    CHECK_INT(record(short_wait, 2), 0);
    CHECK_INT(record((uint16_t[]){WEFT_EV_NOTIFY}, 1), 2);
    // What happens during the wait is recorded.
    CHECK_INT(record((uint16_t[]){WEFT_EV_WAIT, WEFT_EV_NOTIFY, WEFT_EV_WAIT_RETURNED}, 3), 2);
    CHECK_INT(taken[0].kind, WEFT_EV_NOTIFY);
    CHECK_INT(taken[1].kind, WEFT_EV_GAP);
    options.min_duration = 0;
    pauses_after(&options.sleep, false);
    CHECK_INT(record(short_wait, 2), 3);
    CHECK_INT(taken[2].kind, WEFT_EV_GAP);
    pauses_after(&options.sleep, true);
}

int main(void) {
    weft_options_default(&options);
    CHECK(weft_pool_init(options.pool));
    CHECK(weft_sums_init(options.series));
    weft_settings_apply(&options);
    atomic_store(&weft_tracing, true);
    self.buffer = weft_buffer_open(1);
    self.thread = 1;
    RUN(a_running_thread_is_known_if_all_waits_are_recorded);
    RUN(it_is_unknown_after_each_event_if_some_are_not);
    RUN(other_events_do_not_matter);
    RUN(a_wait_that_ends_in_aggregated_mode_leaves_the_thread_unknown);
    RUN(a_wait_that_is_too_short_leaves_nothing);
    weft_buffer_close(self.buffer);
    weft_buffer_free(weft_buffer_take_new());
    return harness_end("blind");
}
