// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what is recorded of spans around waits.

#include <stddef.h>

#include "harness.h"
#include "options/settings.h"
#include "record/context.h"
#include "record/min_duration.h"
#include "record/record.h"
#include "record/sums.h"

enum { THREAD = 5, CHUNKS = 4 };

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

static struct weft_self self;

// Starts a thread with a span; a subject is a virtual thread that it carries.
static struct weft_scope begin(uint64_t subject, struct weft_context **c) {
    self = (struct weft_self){.buffer = weft_buffer_open(THREAD), .thread = THREAD};
    *c = weft_contexts_take(subject != 0 ? subject : THREAD);
    weft_contexts_set(*c, &(struct weft_span){1, 2, 3});
    if (subject == 0) {
        self.context = *c;
    }
    atomic_store(&weft_context_reported, true);
    return (struct weft_scope){.self = &self, .subject = subject};
}

static void end(struct weft_context *c) {
    weft_contexts_give(c);
    weft_buffer_close(self.buffer);
    weft_buffer_free(weft_buffer_take_new());
    atomic_store(&weft_context_reported, false);
}

// Records two events, and returns how often the span is stated.
static size_t stated_by(const struct weft_scope *scope, uint16_t kind, uint16_t other) {
    struct weft_record first = {.kind = kind};
    struct weft_record second = {.kind = other};
    size_t stated = 0;
    weft_record_now(scope, &first);
    weft_record_now(scope, &second);
    for (size_t i = drain(self.buffer); i > 0; i--) {
        stated += taken[i - 1].kind == WEFT_EV_CONTEXT;
    }
    return stated;
}

static size_t sleep_once(const struct weft_scope *scope) {
    return stated_by(scope, WEFT_EV_SLEEP_START, WEFT_EV_SLEEP_END);
}

static void states_a_lost_span_again(uint64_t subject) {
    struct weft_chunk *pool[CHUNKS + 1];
    struct weft_context *c;
    struct weft_scope scope = begin(subject, &c);
    size_t count = 0;
    while ((pool[count] = weft_pool_take()) != NULL) {
        count++;
    }
    CHECK_INT(sleep_once(&scope), 0);
    while (count > 0) {
        weft_pool_give(pool[--count]);
    }
    size_t stated = sleep_once(&scope);
    stated += sleep_once(&scope);
    CHECK(stated >= 1 && stated <= 2); // the first one follows a gap
    CHECK_INT(sleep_once(&scope), 0);
    end(c);
}

TEST(a_lost_span_is_stated_again) {
    states_a_lost_span_again(0);
    states_a_lost_span_again(900);
}

// A record of a thread context, of a sampled span.
static const uint8_t other_library[28] = {[0] = 9, [8] = 9, [16] = 9, [24] = 1, [25] = 1};

static void forgets_what_another_library_published(uint64_t subject) {
    struct weft_context *c;
    struct weft_scope scope = begin(subject, &c);
    struct weft_span span;
    size_t first = subject != 0 ? 1 : 0; // after the subject
    void *slot = (void *)(uintptr_t)other_library;
    self.published = &slot;
    atomic_store(&weft_context_reported, false);
    weft_contexts_set(c, &(struct weft_span){0});
    CHECK_INT(sleep_once(&scope), 1);
    CHECK(taken[first].hash == 9U << 24);
    CHECK_INT(sleep_once(&scope), 0);
    CHECK(weft_contexts_find(subject != 0 ? subject : THREAD) == c);

    atomic_store(&weft_context_reported, true); // by another thread
    CHECK(!weft_contexts_unsent(subject != 0 ? subject : THREAD, 0, INT64_MAX, &span));
    CHECK_INT(sleep_once(&scope), 1);
    CHECK(taken[first].kind == WEFT_EV_CONTEXT && taken[first].peer == 0 &&
          taken[first].class_id == 0 && taken[first].hash == 0);
    CHECK_INT(sleep_once(&scope), 0);
    if (subject != 0) {
        CHECK(weft_contexts_find(subject) == NULL); // given back
        c = weft_contexts_take(subject);
    }
    CHECK(!c->has_waited);
    end(c);
}

TEST(a_span_of_another_library_ends_when_the_application_reports_its_own) {
    forgets_what_another_library_published(0);
    forgets_what_another_library_published(900);
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
    struct weft_options options;
    weft_options_default(&options);
    CHECK(weft_pool_init((size_t)CHUNKS * WEFT_CHUNK_SIZE));
    CHECK(weft_sums_init(options.series));
    weft_settings_apply(&options);
    RUN(a_short_wait_with_all_that_belongs_to_it_leaves_nothing_of_it);
    RUN(a_lost_span_is_stated_again);
    RUN(a_span_of_another_library_ends_when_the_application_reports_its_own);
    return harness_end("spans");
}
