// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The list of threads by their ids in the operating system, while threads come and go.

#include "record/tids.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "record/min_duration.h"

enum { THREADS = 4, LIVES = 200 };

static bool find(uint64_t thread, struct weft_tid *tid) {
    *tid = (struct weft_tid){0};
    for (size_t i = 0; i < weft_tids_size(); i++) {
        if (weft_tids_look(i, tid) && tid->thread == thread) {
            return true;
        }
    }
    return false;
}

TEST(a_thread_is_listed_until_it_leaves) {
    struct weft_tid tid;
    struct weft_buffer *b = weft_buffer_open(5);
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    CHECK(!find(5, &tid));
    weft_tids_enter(5, b);
    CHECK(find(5, &tid));
    CHECK(weft_tids_has(5));
    CHECK_INT(tid.tid, syscall(SYS_gettid));
    CHECK_INT(tid.written, 0);
    CHECK(tid.idle);
    weft_min_duration_put_now(b, &r, 0);
    CHECK(find(5, &tid));
    CHECK_INT(tid.written, 1);
    weft_buffer_begin(b);
    CHECK(find(5, &tid));
    CHECK(!tid.idle);
    weft_buffer_end(b);
    weft_tids_leave(5);
    CHECK(!find(5, &tid));
    CHECK_INT(weft_tids_size(), 0);
    weft_buffer_close(b);
}

TEST(a_thread_that_may_have_ended_is_not_listed) {
    struct weft_tid tid;
    uint64_t ends = weft_tids_ends();
    CHECK(weft_tids_add_other(7, 70, ends));
    CHECK(weft_tids_add_other(7, 70, ends)); // it is already
    CHECK(find(7, &tid));
    CHECK_INT(tid.tid, 70);
    CHECK_INT(weft_tids_size(), 1);
    weft_tids_leave(7); // on the thread itself
    CHECK(!weft_tids_has(7));
    CHECK(!weft_tids_add_other(8, 80, ends));
    CHECK(!weft_tids_has(8));
}

TEST(a_thread_that_gets_a_buffer_has_one_place) {
    struct weft_tid tid;
    struct weft_buffer *b = weft_buffer_open(9);
    CHECK(weft_tids_add_other(9, 90, weft_tids_ends()));
    weft_tids_enter(9, b);
    CHECK_INT(weft_tids_size(), 1);
    CHECK(find(9, &tid));
    CHECK_INT(tid.tid, syscall(SYS_gettid));
    weft_tids_leave(9);
    CHECK_INT(weft_tids_size(), 0);
    weft_buffer_close(b);
}

TEST(a_full_list_takes_no_more) {
    for (uint64_t id = 1; id <= WEFT_TIDS_MAX + 1; id++) {
        CHECK(weft_tids_add_other(id, 1, weft_tids_ends()));
    }
    CHECK_INT(weft_tids_size(), WEFT_TIDS_MAX);
    CHECK(!weft_tids_has(WEFT_TIDS_MAX + 1));
    for (uint64_t id = 1; id <= WEFT_TIDS_MAX + 1; id++) {
        weft_tids_leave(id);
    }
    CHECK_INT(weft_tids_size(), 0);
}

static _Atomic uint64_t next_id = 1;
static atomic_int alive = THREADS;

static void *live(void *unused) {
    (void)unused;
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    for (int i = 0; i < LIVES; i++) {
        uint64_t id = atomic_fetch_add(&next_id, 1);
        struct weft_buffer *b = weft_buffer_open(id);
        weft_tids_enter(id, b);
        weft_min_duration_put_now(b, &r, 0);
        weft_tids_leave(id);
        weft_buffer_close(b);
    }
    atomic_fetch_sub(&alive, 1);
    return NULL;
}

// As the sender does: frees buffers that are closed and read.
static void free_closed(struct weft_buffer **open, size_t *count) {
    for (struct weft_buffer *b = weft_buffer_take_new(); b != NULL;) {
        struct weft_buffer *next = b->registered;
        open[(*count)++] = b;
        b = next;
    }
    for (size_t i = 0; i < *count;) {
        size_t run;
        if (!atomic_load(&open[i]->closed)) {
            i++;
            continue;
        }
        while (weft_buffer_peek(open[i], atomic_load(&open[i]->written), &run) != NULL) {
            weft_buffer_advance(open[i], run);
        }
        weft_buffer_free(open[i]);
        open[i] = open[--*count];
    }
}

TEST(threads_end_while_others_look) {
    static struct weft_buffer *open[THREADS * LIVES + 16];
    size_t count = 0;
    pthread_t threads[THREADS];
    struct weft_tid tid;
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, live, NULL);
    }
    while (atomic_load(&alive) > 0) {
        for (size_t i = 0; i < weft_tids_size(); i++) {
            if (weft_tids_look(i, &tid)) {
                CHECK(tid.written <= 1);
            }
        }
        free_closed(open, &count);
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    free_closed(open, &count);
    CHECK_INT(count, 0);
    CHECK_INT(weft_tids_size(), 0);
}

int main(void) {
    weft_pool_init(1U << 20);
    RUN(a_thread_is_listed_until_it_leaves);
    RUN(a_thread_that_may_have_ended_is_not_listed);
    RUN(a_thread_that_gets_a_buffer_has_one_place);
    RUN(a_full_list_takes_no_more);
    RUN(threads_end_while_others_look);
    return harness_end("tids");
}
