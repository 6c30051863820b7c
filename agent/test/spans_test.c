// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what is recorded of spans around waits.

#include <stddef.h>

#include "harness.h"
#include "options/settings.h"
#include "record/min_duration.h"

enum { THREAD = 5 };

static struct weft_record taken[64];

// Takes what was written since.
static size_t drain(struct weft_buffer *b) {
    const struct weft_record *run;
    size_t total = 0;
    size_t length;
    while ((run = weft_buffer_peek(b, atomic_load(&b->written), &length)) != NULL) {
        memcpy(taken + total, run, length * sizeof *run);
        total += length;
        weft_buffer_advance(b, length);
    }
    return total;
}

static bool hold(struct weft_buffer *b, uint16_t kind, int64_t time) {
    struct weft_record r = {.kind = kind, .time = time};
    return weft_min_duration_put(b, &r, 0);
}

TEST(a_short_wait_with_all_that_belongs_to_it_leaves_nothing_of_it) {
    static const uint16_t inside[] = {WEFT_EV_WAITED,          WEFT_EV_CPU,
                                      WEFT_EV_CONTENDED_ENTER, WEFT_EV_OWNER_CONTEXT,
                                      WEFT_EV_OWNER_STACK,     WEFT_EV_CONTENDED_ENTERED};
    struct weft_buffer *b = weft_buffer_open(THREAD);
    struct weft_record context = {.kind = WEFT_EV_CONTEXT, .time = 1};
    struct weft_record wait = {.kind = WEFT_EV_WAIT, .time = 1};
    atomic_store(&weft_settings.min_duration, 1000);
    weft_buffer_begin(b);
    weft_min_duration_put_pair(b, &context, &wait, 0);
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        CHECK(hold(b, inside[i], 2));
    }
    CHECK(!hold(b, WEFT_EV_WAIT_RETURNED, 3));
    weft_buffer_end(b);
    CHECK_INT(drain(b), 1);
    CHECK_INT(taken[0].kind, WEFT_EV_CPU);
    atomic_store(&weft_settings.min_duration, 0);
    weft_buffer_close(b);
    weft_buffer_free(weft_buffer_take_new());
}

int main(void) {
    CHECK(weft_pool_init((size_t)4 * WEFT_CHUNK_SIZE));
    RUN(a_short_wait_with_all_that_belongs_to_it_leaves_nothing_of_it);
    return harness_end("spans");
}
