// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the records of pauses of the JVM, and that a session may end during a pause.

#include "record/pauses.h"

#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"
#include "options/settings.h"
#include "record/buffer.h"
#include "record/definitions.h"

enum { SESSIONS = 2000 };

// Returns the only new buffer.
static struct weft_buffer *opened(void) {
    struct weft_buffer *b = weft_buffer_take_new();
    CHECK(b != NULL && b->registered == NULL);
    return b;
}

static size_t drain(struct weft_buffer *b, struct weft_record *taken) {
    size_t all = 0;
    size_t count;
    const struct weft_record *run;
    uint64_t limit = atomic_load(&b->written);
    while ((run = weft_buffer_peek(b, limit, &count)) != NULL) {
        for (size_t i = 0; i < count; i++) {
            taken[all++] = run[i];
        }
        weft_buffer_advance(b, count);
    }
    return all;
}

TEST(a_pause_is_a_wait) {
    struct weft_record taken[8] = {0};
    weft_pauses_start();
    struct weft_buffer *b = opened();
    CHECK_INT(b->thread, WEFT_PAUSES_THREAD);
    weft_pauses_begin();
    weft_pauses_end();
    weft_pauses_stop();
    CHECK(atomic_load(&b->closed));
    CHECK_INT(drain(b, taken), 3);
    CHECK_INT(taken[0].kind, WEFT_EV_PARK);
    CHECK(taken[0].class_id != 0);
    CHECK_INT(taken[1].kind, WEFT_EV_UNPARKED);
    CHECK(taken[1].time >= taken[0].time);
    CHECK_INT(taken[2].kind, WEFT_EV_GAP); // it does not seem to run
    CHECK_INT(taken[2].arg, 0);
    weft_buffer_free(b);
}

TEST(an_end_has_a_beginning) {
    struct weft_record taken[8] = {0};
    weft_pauses_begin(); // no session
    weft_pauses_start();
    struct weft_buffer *b = opened();
    weft_pauses_end();
    atomic_store(&weft_tracing, false);
    weft_pauses_begin();
    atomic_store(&weft_tracing, true);
    weft_pauses_end();
    CHECK_INT(drain(b, taken), 0);
    weft_pauses_begin();
    atomic_store(&weft_tracing, false);
    weft_pauses_end(); // as other waits, it ends
    atomic_store(&weft_tracing, true);
    CHECK_INT(drain(b, taken), 3);
    weft_pauses_stop();
    weft_buffer_free(b);
}

static atomic_bool done;

static void *collect(void *none) {
    while (!atomic_load(&done)) {
        weft_pauses_begin();
        weft_pauses_end();
    }
    return none;
}

// Under the sanitizers: no record is written to a buffer that was closed, which the sender frees.
TEST(sessions_end_during_pauses) {
    pthread_t vm;
    pthread_create(&vm, NULL, collect, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        size_t count;
        weft_pauses_start();
        struct weft_buffer *b = opened();
        weft_pauses_stop();
        while (weft_buffer_peek(b, atomic_load(&b->written), &count) != NULL) {
            weft_buffer_advance(b, count);
        }
        weft_buffer_free(b);
    }
    atomic_store(&done, true);
    pthread_join(vm, NULL);
    CHECK_INT(weft_pool_used(), 0);
}

int main(void) {
    const struct weft_options options = {.park = true};
    weft_pool_init((size_t)4 << 20);
    weft_definitions_init((size_t)1 << 20);
    weft_settings_apply(&options);
    weft_settings_record(true);
    RUN(a_pause_is_a_wait);
    RUN(an_end_has_a_beginning);
    RUN(sessions_end_during_pauses);
    return harness_end("pauses");
}
