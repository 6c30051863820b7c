// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a reader of another thread's span sees a whole one, of that thread, and that there is
// room for the spans of as many threads as promised.

#include "record/contexts.h"

#include <pthread.h>
#include <stddef.h>

#include "harness.h"

enum { THREADS = 4, SEEN = 20000 };

static atomic_bool over;

static struct weft_span span_of(uint64_t thread, uint64_t n) {
    return (struct weft_span){n, ~n, thread << 32 | n};
}

TEST(told_until_it_changes) {
    struct weft_span span;
    CHECK(!weft_contexts_unsent(7, 1, 100, &span));
    struct weft_context *c = weft_contexts_take(7);
    CHECK(weft_contexts_find(7) == c && weft_contexts_find(8) == NULL);
    CHECK(!weft_contexts_unsent(7, 1, 100, &span)); // none is current
    weft_contexts_set(c, &(struct weft_span){1, 2, 3});
    CHECK(weft_contexts_unsent(7, 1, 100, &span) && span.trace_high == 1 && span.trace_low == 2 &&
          span.id == 3);
    weft_contexts_mark_sent(c, 1, 50);
    CHECK(!weft_contexts_unsent(7, 1, 100, &span));
    CHECK(weft_contexts_unsent(7, 1, 50, &span)); // the event is not older
    CHECK(weft_contexts_unsent(7, 2, 100, &span));
    weft_contexts_set(c, &(struct weft_span){1, 2, 4});
    CHECK(weft_contexts_unsent(7, 1, 100, &span) && span.id == 4);
    weft_contexts_give(c);
    CHECK(weft_contexts_find(7) == NULL);
    CHECK(weft_contexts_take(9) == c);
    CHECK(!weft_contexts_unsent(7, 1, 100, &span));
    weft_contexts_give(c);
}

// Takes as many contexts as there are, for ids with a step between them. Those that are given back
// have room again.
static void fill(uint64_t step) {
    static struct weft_context *all[WEFT_CONTEXTS];
    size_t without = 0;
    size_t lost = 0;
    for (uint64_t i = 0; i < WEFT_CONTEXTS; i++) {
        all[i] = weft_contexts_take(1 + i * step);
        without += all[i] == NULL;
    }
    CHECK_INT(without, 0);
    CHECK(weft_contexts_take(1 + WEFT_CONTEXTS * step) == NULL);
    for (uint64_t i = 0; i < WEFT_CONTEXTS && without == 0; i += 2) {
        weft_contexts_give(all[i]);
    }
    for (uint64_t i = 0; i < WEFT_CONTEXTS && without == 0; i++) {
        lost += weft_contexts_find(1 + i * step) != (i % 2 == 0 ? NULL : all[i]);
    }
    CHECK_INT(lost, 0);
    for (uint64_t i = 0; i < WEFT_CONTEXTS && without == 0; i += 2) {
        all[i] = weft_contexts_take(1 + (WEFT_CONTEXTS + i) * step);
        without += all[i] == NULL;
    }
    CHECK_INT(without, 0);
    for (uint64_t i = 0; i < WEFT_CONTEXTS; i++) {
        if (all[i] != NULL) {
            weft_contexts_give(all[i]);
        }
    }
    CHECK(weft_contexts_find(1 + step) == NULL);
}

TEST(as_many_as_promised_whatever_the_step_between_ids) {
    static const uint64_t steps[] = {1, 2, 3, 4, 7, 10, 16, 64, 100, 1000, 1 << 14, 1 << 20};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fill(steps[i]);
    }
}

// Changes its span, and often exchanges its context with those of other threads.
static void *live(void *id) {
    uint64_t thread = *(const uint64_t *)id;
    for (uint64_t n = 1; !atomic_load(&over); n++) {
        struct weft_context *c = weft_contexts_take(thread);
        for (uint64_t i = 0; i < 10; i++) {
            struct weft_span span = span_of(thread, n * 10 + i);
            weft_contexts_set(c, &span);
        }
        weft_contexts_give(c);
    }
    return NULL;
}

static void look(void) {
    struct weft_span span;
    int seen = 0;
    for (uint64_t i = 0; seen < SEEN; i++) {
        uint64_t thread = 1 + i % THREADS;
        if (weft_contexts_unsent(thread, 1, 0, &span)) {
            struct weft_span whole = span_of(thread, span.trace_high);
            CHECK(whole.trace_low == span.trace_low && whole.id == span.id);
            seen++;
        }
    }
}

TEST(read_while_they_change) {
    pthread_t threads[THREADS];
    uint64_t ids[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        ids[i] = i + 1;
        pthread_create(&threads[i], NULL, live, &ids[i]);
    }
    look();
    atomic_store(&over, true);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(void) {
    RUN(told_until_it_changes);
    RUN(as_many_as_promised_whatever_the_step_between_ids);
    RUN(read_while_they_change);
    return harness_end("contexts");
}
