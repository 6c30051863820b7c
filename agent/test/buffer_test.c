// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that records stay in order, losses are counted at their position, and chunks are given
// back.

#include "record/buffer.h"

#include <stdlib.h>

#include "harness.h"
#include "options/settings.h"
#include "record/definitions.h"
#include "record/roster.h"
#include "send/drain.h"

static size_t drain(struct weft_buffer *b, struct weft_record *to) {
    size_t total = 0;
    size_t count;
    uint64_t limit = atomic_load(&b->written);
    const struct weft_record *run;
    while ((run = weft_buffer_peek(b, limit, &count)) != NULL) {
        memcpy(to + total, run, count * sizeof *run);
        total += count;
        weft_buffer_advance(b, count);
    }
    return total;
}

static void put(struct weft_buffer *b, int64_t arg) {
    struct weft_record r = {.kind = WEFT_EV_YIELD, .arg = arg};
    weft_min_duration_put_now(b, &r, 0);
}

static struct weft_record taken[4096];

TEST(keeps_order_over_chunks) {
    struct weft_buffer *b = weft_buffer_open(1);
    for (int i = 0; i < 1000; i++) {
        put(b, i);
    }
    CHECK_INT(drain(b, taken), 1000);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(taken[i].arg, i);
        CHECK(i == 0 || taken[i].time >= taken[i - 1].time);
    }
    weft_buffer_close(b);
    CHECK(weft_buffer_take_new() == b);
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(times_never_decrease) {
    struct weft_buffer *b = weft_buffer_open(1);
    struct weft_record outer = {.kind = WEFT_EV_NOTIFY};
    weft_buffer_begin(b);
    outer.time = weft_clock();
    put(b, 1); // the outer record is not written yet
    CHECK(!weft_buffer_idle(b));
    weft_min_duration_put(b, &outer, 0);
    weft_buffer_end(b);
    CHECK(weft_buffer_idle(b));
    CHECK_INT(drain(b, taken), 2);
    CHECK(taken[1].time >= taken[0].time);
    weft_buffer_take_new();
    weft_buffer_free(b);
}

TEST(counts_losses_at_their_position) {
    struct weft_buffer *b = weft_buffer_open(1);
    struct weft_record gap;
    int capacity = (int)weft_pool_chunks() * WEFT_CHUNK_RECORDS;
    for (int i = 0; i < capacity + 7; i++) {
        put(b, i);
    }
    CHECK(!weft_buffer_take_loss(b, &gap)); // not at the reading position yet
    CHECK_INT(drain(b, taken), capacity);
    CHECK(weft_buffer_take_loss(b, &gap));
    CHECK_INT(gap.arg, 7);
    CHECK_INT(gap.kind, WEFT_EV_GAP);
    CHECK(gap.time >= taken[capacity - 1].time);
    CHECK(!weft_buffer_take_loss(b, &gap));
    put(b, 1); // the sender has freed all chunks but the last
    CHECK_INT(drain(b, taken), 1);
    CHECK_INT(taken[0].kind, WEFT_EV_YIELD);
    weft_buffer_take_new();
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

// A gap without lost events is not an event: if it is lost itself, the history still has a gap, but
// nothing more was lost.
TEST(a_lost_gap_is_not_a_lost_event) {
    struct weft_buffer *b = weft_buffer_open(1);
    struct weft_record none = {.kind = WEFT_EV_GAP}, gap;
    int capacity = (int)weft_pool_chunks() * WEFT_CHUNK_RECORDS;
    for (int i = 0; i < capacity; i++) {
        put(b, i);
    }
    weft_min_duration_put_now(b, &none, 0);
    CHECK_INT(drain(b, taken), capacity);
    CHECK(weft_buffer_take_loss(b, &gap));
    CHECK_INT(gap.arg, 0);
    for (int i = 0; i < capacity - WEFT_CHUNK_RECORDS; i++) {
        put(b, i);
    }
    put(b, 1);
    weft_min_duration_put_now(b, &none, 0);
    put(b, 2);
    weft_min_duration_put_now(b, &none, 0);
    drain(b, taken);
    CHECK(weft_buffer_take_loss(b, &gap));
    CHECK_INT(gap.arg, 2);
    weft_buffer_take_new();
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(reports_its_own_losses) {
    struct weft_buffer *hog = weft_buffer_open(1);
    struct weft_buffer *b = weft_buffer_open(2);
    int capacity = (int)weft_pool_chunks() * WEFT_CHUNK_RECORDS;
    for (int i = 0; i < capacity; i++) {
        put(hog, i);
    }
    put(b, 1);
    put(b, 2);
    drain(hog, taken);
    put(b, 3);
    CHECK_INT(drain(b, taken), 2);
    CHECK_INT(taken[0].kind, WEFT_EV_GAP);
    CHECK_INT(taken[0].arg, 2);
    CHECK_INT(taken[1].arg, 3);
    weft_buffer_take_new();
    weft_buffer_free(hog);
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(gives_idle_chunks_back) {
    struct weft_buffer *b = weft_buffer_open(1);
    put(b, 1);
    weft_buffer_reclaim(b); // not read yet
    CHECK_INT(weft_pool_used(), 1);
    CHECK_INT(drain(b, taken), 1);
    weft_buffer_begin(b);
    weft_buffer_reclaim(b); // busy
    CHECK_INT(weft_pool_used(), 1);
    weft_buffer_end(b);
    weft_buffer_reclaim(b);
    CHECK_INT(weft_pool_used(), 0);
    put(b, 2);
    CHECK_INT(drain(b, taken), 1);
    CHECK_INT(taken[0].arg, 2);
    weft_buffer_take_new();
    weft_buffer_free(b);
}

// Between the sender's last look and the reclaim, the thread may have written.
TEST(loses_nothing_when_reclaiming_a_chunk) {
    struct weft_buffer *b = weft_buffer_open(1);
    size_t count;
    put(b, 1);
    CHECK_INT(drain(b, taken), 1);
    put(b, 2); // and is idle again
    weft_buffer_reclaim(b);
    CHECK_INT(weft_pool_used(), 1);
    const struct weft_record *run = weft_buffer_peek(b, atomic_load(&b->written), &count);
    CHECK(run != NULL && count == 1 && run->arg == 2);
    put(b, 3); // goes into another chunk
    CHECK_INT(weft_pool_used(), 2);
    CHECK_INT(drain(b, taken), 2);
    CHECK_INT(taken[0].arg, 2);
    CHECK_INT(taken[1].arg, 3);
    CHECK_INT(weft_pool_used(), 1);

    put(b, 4);
    weft_buffer_reclaim(b);
    CHECK_INT(drain(b, taken), 1);
    weft_buffer_reclaim(b); // everything is read now
    CHECK_INT(weft_pool_used(), 0);
    put(b, 5);
    CHECK_INT(drain(b, taken), 1);
    CHECK_INT(taken[0].arg, 5);
    weft_buffer_take_new();
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(keeps_subject_and_record_together) {
    struct weft_buffer *b = weft_buffer_open(1);
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    for (int i = 0; i < WEFT_CHUNK_RECORDS - 1; i++) {
        put(b, i);
    }
    weft_min_duration_put_now(b, &r, 77); // does not fit into the rest of the chunk
    size_t count = drain(b, taken);
    CHECK_INT(count, WEFT_CHUNK_RECORDS + 1);
    CHECK_INT(taken[count - 2].kind, WEFT_SUBJECT);
    CHECK_INT(taken[count - 2].peer, 77);
    weft_buffer_take_new();
    weft_buffer_free(b);
    CHECK_INT(weft_pool_used(), 0);
}

// The sender sees that events were lost, but the thread itself reports them at a later position.
TEST(a_loss_elsewhere_makes_no_empty_section) {
    struct weft_retain retain = {.limit = 1U << 20};
    struct weft_drain d;
    bool complete;
    weft_definitions_init(1U << 20);
    CHECK(weft_drain_init(&d, &retain, weft_clock()));
    struct weft_buffer *b = weft_buffer_open(1);
    atomic_store(&b->lost, 1);
    b->lost_at = 5;
    weft_drain_pass(&d, false, false, &complete);
    CHECK(retain.oldest != NULL);
    CHECK_INT(retain.oldest->len, WEFT_FRAME_HEADER_SIZE + WEFT_BATCH_HEADER_SIZE);
    for (int i = 0; i < 5; i++) {
        put(b, i);
    }
    weft_drain_pass(&d, false, false, &complete);
    CHECK_INT(retain.newest->sequence, 2);
    CHECK_INT(retain.newest->len, WEFT_FRAME_HEADER_SIZE + WEFT_BATCH_HEADER_SIZE +
                                      WEFT_SECTION_SIZE + 6 * WEFT_RECORD_SIZE);
    weft_retain_drop(&retain, 2);
    weft_buffer_close(b);
    weft_drain_pass(&d, false, true, &complete);
    free(d.buffers);
    free(d.batch.out.data);
    CHECK_INT(weft_pool_used(), 0);
}

static uint64_t lost_in(struct weft_drain *d) {
    bool complete = false;
    uint64_t lost = 0;
    // The second pass reports what the first one has lost.
    for (int i = 0; i < 2 && !complete; i++) {
        weft_drain_pass(d, false, true, &complete);
    }
    CHECK(complete);
    for (const struct weft_batch *batch = d->batch.retain->oldest; batch != NULL;
         batch = batch->next) {
        size_t at = WEFT_FRAME_HEADER_SIZE + WEFT_BATCH_HEADER_SIZE;
        while (at < batch->len) {
            uint64_t thread;
            uint32_t count;
            memcpy(&thread, batch->data + at, sizeof thread);
            memcpy(&count, batch->data + at + 8, sizeof count);
            CHECK(thread == 77 || thread == WEFT_LOST_THREAD);
            at += WEFT_SECTION_SIZE;
            for (; count > 0; count--, at += WEFT_RECORD_SIZE) {
                int64_t arg;
                memcpy(&arg, batch->data + at + 16, sizeof arg);
                lost += thread == 77 ? 0 : (uint64_t)arg;
            }
        }
    }
    return lost;
}

// The agent itself writes only about other threads. It has no history of its own: what it loses,
// and pauses, do not show it as a thread.
TEST(the_agent_itself_is_no_thread) {
    struct weft_retain retain = {.limit = 1U << 20};
    struct weft_drain d;
    weft_definitions_init(1U << 20);
    CHECK(weft_drain_init(&d, &retain, weft_clock()));
    struct weft_buffer *b = weft_buffer_open(0);
    int capacity = (int)weft_pool_chunks() * WEFT_CHUNK_RECORDS / 2;
    for (int i = 0; i < capacity + 3; i++) {
        struct weft_record r = {.kind = WEFT_EV_RUNNING};
        weft_min_duration_put_now(b, &r, 77);
    }
    weft_settings_pause();
    lost_in(&d);
    CHECK_INT(d.batch.before, capacity);
    for (int i = 0; i < capacity + 4; i++) {
        struct weft_record r = {.kind = WEFT_EV_RUNNING};
        weft_min_duration_put_now(b, &r, 77);
        if (i == capacity) {
            lost_in(&d); // then it writes the gap itself
        }
    }
    weft_buffer_close(b);
    uint64_t lost = lost_in(&d);
    CHECK(lost >= 3);
    CHECK_INT(d.batch.before + lost, 2 * capacity + 7);
    weft_retain_drop(&retain, UINT64_MAX);
    free(d.buffers);
    free(d.virtual.list);
    free(d.batch.out.data);
    CHECK_INT(weft_pool_used(), 0);
}

// While the sender is blocked, short-lived threads leave only a limited amount behind.
TEST(bounds_waiting_buffers) {
    for (int i = 0; i < WEFT_NEW_BUFFERS; i++) {
        struct weft_buffer *b = weft_buffer_open(1);
        CHECK(b != NULL);
        weft_buffer_close(b);
    }
    CHECK(weft_buffer_open(1) == NULL);
    struct weft_buffer *taken_back = weft_buffer_take_new();
    struct weft_buffer *one = weft_buffer_open(1);
    CHECK(one != NULL && weft_buffer_take_new() == one);
    weft_buffer_free(one);
    weft_buffer_give_back(taken_back);
    CHECK(weft_buffer_open(1) == NULL);
    for (struct weft_buffer *b = weft_buffer_take_new(); b != NULL;) {
        struct weft_buffer *next = b->registered;
        weft_buffer_free(b);
        b = next;
    }
}

TEST(bounds_waiting_announcements) {
    static char name[2 * WEFT_MAX_STRING];
    memset(name, 'n', sizeof name - 1);
    for (uint64_t id = 1; id <= 10000; id++) {
        weft_roster_announce(id, 0, name, "test");
    }
    CHECK(weft_roster_waiting() >= WEFT_ROSTER_WAITING);
    CHECK(weft_roster_waiting() < WEFT_ROSTER_WAITING + 100000);
    weft_roster_collect();
    CHECK_INT(weft_roster_waiting(), 0);
    CHECK(weft_roster_size() < 1000);
    weft_roster_announce(10001, 0, "n", "test");
    weft_roster_collect();
    CHECK(weft_roster_size() > 500);
}

int main(void) {
    CHECK(weft_pool_init((size_t)8 * WEFT_CHUNK_SIZE));
    RUN(keeps_order_over_chunks);
    RUN(times_never_decrease);
    RUN(counts_losses_at_their_position);
    RUN(a_lost_gap_is_not_a_lost_event);
    RUN(reports_its_own_losses);
    RUN(gives_idle_chunks_back);
    RUN(loses_nothing_when_reclaiming_a_chunk);
    RUN(keeps_subject_and_record_together);
    RUN(the_agent_itself_is_no_thread);
    RUN(bounds_waiting_buffers);
    RUN(bounds_waiting_announcements);
    RUN(a_loss_elsewhere_makes_no_empty_section);
    return harness_end("buffer");
}
