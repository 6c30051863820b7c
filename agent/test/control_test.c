// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests controls, the minimum duration, and events that threads did not write themselves, with the
// real sender.

#include "options/settings.h"
#include "record/found.h"
#include "send/control.h"
#include "send/findings.h"
#include "sending.h"

static struct weft_options options_now;

static void start_controlled(size_t pool, size_t retain) {
    weft_options_default(&options_now);
    weft_control_prepare(&options_now, NULL);
    start_sender(pool, retain);
    weft_control_begin();
}

// Every control is answered, invalid ones change nothing, and no event is affected.
TEST(controlled) {
    pthread_t thread;
    server.nag = 101;
    start_server(&thread);
    start_controlled(16U << 20, 8U << 20);
    uint64_t events = run_writers(3, 4, 20000, 10, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK_INT(server.witness.answers, 101);
    CHECK_INT(server.witness.refusals, 50);
    CHECK_STRING(server.witness.answer, "|7|off");
    CHECK_INT(weft_settings_depth(WEFT_PLACE_BLOCK), 7);
}

// What an attach may request once is not in effect for later ones, and a status changes nothing.
TEST(commanded) {
    char problem[WEFT_PROBLEM_MAX];
    bool detach = true;
    weft_options_default(&options_now);
    CHECK(weft_options_change("detach=now", WEFT_AT_START, &options_now, problem));
    weft_control_prepare(&options_now, NULL);
    unsigned epoch = atomic_load(&weft_epoch);
    CHECK(weft_control_attach("status=now", &detach, problem));
    CHECK(!detach);
    CHECK(!weft_control_attach("depth=3,status=now", &detach, problem));
    CHECK_INT(weft_control_options().depth, 32);
    CHECK(weft_control_attach("depth=3", &detach, problem));
    CHECK(!detach);
    CHECK_INT(weft_control_options().depth, 3);
    CHECK(weft_control_attach("depth=32", &detach, problem));
    CHECK_INT(atomic_load(&weft_epoch), epoch);
    CHECK(weft_control_attach("detach=now", &detach, problem));
    CHECK(detach);
}

// Each malformed control frame costs one connection, and nothing else.
TEST(mangled) {
    pthread_t thread;
    server.mangle = 5;
    start_server(&thread);
    start_controlled(16U << 20, 8U << 20);
    uint64_t events = run_writers(8, 4, 3000, 300, write_events);
    while (atomic_load(&server.mangle) > 0) { // otherwise the watchdog ends it
        usleep(1000);
    }
    finish_after(thread, events);
    expect(events);
    CHECK_INT(server.witness.connections, 6);
    CHECK_INT(weft_settings_depth(WEFT_PLACE_BLOCK), 32);
}

static _Atomic uint64_t long_enough;

// Waits of all lengths around the minimum, with nested events.
static void *wait_around(void *argument) {
    const struct writer *w = argument;
    uint64_t id = atomic_fetch_add(&next_thread, 1);
    unsigned seed = (unsigned)id;
    weft_roster_announce(id, 0, "worker-1", "test");
    struct weft_buffer *b = weft_buffer_open(id);
    if (b == NULL) {
        return NULL;
    }
    for (int i = 0; i < w->events; i++) {
        struct weft_record begin = {.kind = i % 3 == 0 ? WEFT_EV_PARK : WEFT_EV_WAIT};
        struct weft_record waited = {.kind = WEFT_EV_WAITED};
        struct weft_record other = {.kind = WEFT_EV_YIELD};
        struct weft_record end = {.kind = i % 3 == 0 ? WEFT_EV_UNPARKED : WEFT_EV_WAIT_RETURNED};
        weft_min_duration_put_now(b, &begin, 0);
        if (rand_r(&seed) % 4 == 0) {
            usleep((useconds_t)(rand_r(&seed) % 3000));
        }
        if (i % 3 != 0) {
            weft_min_duration_put_now(b, &waited, 0);
            for (int k = 0; k < i % 7; k++) {
                weft_min_duration_put_now(b, &other, 0);
            }
        }
        weft_min_duration_put_now(b, &end, 0);
        // More than a hold has room for is always sent.
        bool spills = i % 3 != 0 && 2 + i % 7 > WEFT_HELD_RECORDS;
        if (spills || end.time - begin.time >= 1000000) {
            atomic_fetch_add(&long_enough, 1);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

// With a minimum duration: all waits that are long enough, with their ends; few others, which begin
// while the sender takes the previous one; and one that never ends.
TEST(minimum) {
    pthread_t thread;
    server.witness.problem[0] = '\0';
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    atomic_store(&weft_settings.min_duration, 1000000);
    weft_roster_announce(77, 0, "worker-dead", "test");
    struct weft_buffer *dead = weft_buffer_open(77);
    struct weft_record park = {.kind = WEFT_EV_PARK};
    weft_min_duration_put_now(dead, &park, 0);
    uint64_t waits = run_writers(1, 8, 4000, 0, wait_around);
    finish(thread);
    const struct witness *w = &server.witness;
    CHECK_INT(w->lost, 0);
    uint64_t begun = w->events[WEFT_EV_PARK] + w->events[WEFT_EV_WAIT];
    CHECK(begun >= atomic_load(&long_enough) + 1);
    CHECK(begun < (atomic_load(&long_enough) + waits) / 2);
    CHECK_INT(w->events[WEFT_EV_UNPARKED] + w->events[WEFT_EV_WAIT_RETURNED], begun - 1);
    CHECK_INT(w->events[WEFT_EV_PARK], w->events[WEFT_EV_UNPARKED] + 1);
    CHECK(w->events[WEFT_EV_YIELD] > 0);
}

// A wait held back when a session ends is sent in the next one, starting at its beginning.
TEST(held_over) {
    pthread_t thread;
    finish_ms = 500;
    start_controlled(64U << 20, 8U << 20);
    atomic_store(&weft_settings.min_duration, INT64_MAX);
    weft_roster_announce(77, 0, "worker-dead", "test");
    struct weft_buffer *dead = weft_buffer_open(77);
    struct weft_record park = {.kind = WEFT_EV_PARK};
    weft_min_duration_put_now(dead, &park, 0);
    weft_sender_finish(WEFT_END_DETACHED); // without a receiver
    finish_ms = 60000;
    start_server(&thread);
    begin_session(8U << 20);
    atomic_store(&weft_settings.min_duration, 1000000);
    finish_after(thread, 1);
    CHECK_INT(server.witness.total, 1);
    CHECK(server.witness.ended);
}

// Threads known to a session that end after it are forgotten.
TEST(forgotten) {
    pthread_t thread;
    finish_ms = 500;
    start_controlled(1U << 20, 8U << 20);
    for (uint64_t id = 1; id <= WEFT_ROSTER_GONE + 1000; id++) {
        weft_roster_announce(1000 + id, 0, "worker-idle", "test");
    }
    weft_sender_finish(WEFT_END_DETACHED);
    finish_ms = 60000;
    start_server(&thread);
    begin_session(8U << 20);
    uint64_t events = run_writers(1, 2, 1000, 0, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
}

static void *look_often(void *nothing) {
    (void)nothing;
    for (int i = 0; i < 20; i++) {
        struct weft_look *looks;
        size_t count;
        while (!weft_findings_look(weft_sender_wake, &looks,
                                   &count)) { // otherwise the watchdog ends it
        }
        free(looks);
    }
    return NULL;
}

// Several threads may request the ends of the histories at once; all get an answer.
TEST(looked) {
    pthread_t askers[4];
    finish_ms = 500;
    start_controlled(1U << 20, 8U << 20);
    for (size_t i = 0; i < sizeof askers / sizeof askers[0]; i++) {
        pthread_create(&askers[i], NULL, look_often, NULL);
    }
    for (size_t i = 0; i < sizeof askers / sizeof askers[0]; i++) {
        pthread_join(askers[i], NULL);
    }
    weft_sender_finish(WEFT_END_EXIT);
}

// Threads that keep a chunk each do not limit stacks once the pressure is over.
TEST(relieved) {
    finish_ms = 500;
    start_controlled((size_t)8 * WEFT_CHUNK_SIZE, 8U << 20);
    for (uint64_t id = 1; id <= 3; id++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        weft_min_duration_put_now(weft_buffer_open(id), &r, 0);
    }
    weft_settings_pressure(5, 8);
    CHECK(weft_settings_pressed());
    while (weft_settings_pressed()) { // otherwise the watchdog ends it
        usleep(1000);
    }
    CHECK_INT(weft_settings_depth(WEFT_PLACE_BLOCK), 32);
    weft_sender_finish(WEFT_END_EXIT);
}

static atomic_bool moving;
static _Atomic uint64_t moved;

static void *move_about(void *argument) {
    struct weft_buffer *b = argument;
    while (atomic_load(&moving)) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        weft_min_duration_put_now(b, &r, 0);
        atomic_fetch_add(&moved, 1);
        usleep(100);
    }
    return NULL;
}

// A finding about a thread that has continued is dropped; one about a thread that has not, or has
// never written anything, is sent.
TEST(found) {
    pthread_t thread;
    pthread_t mover;
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    struct weft_buffer *still = weft_buffer_open(5);
    struct weft_buffer *moves = weft_buffer_open(6);
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    weft_min_duration_put_now(still, &r, 0);
    atomic_store(&moving, true);
    pthread_create(&mover, NULL, move_about, moves);
    uint64_t put = 0;
    for (int i = 0; i < 20; i++) {
        struct weft_look *looks;
        size_t count;
        while (!weft_findings_look(weft_sender_wake, &looks, &count)) {
        }
        for (uint64_t before = atomic_load(&moved); atomic_load(&moved) == before;) {
            usleep(100);
        }
        struct weft_finding *list = calloc(3, sizeof *list);
        for (uint64_t id = 5; id < 8; id++) {
            struct weft_look at = weft_findings_look_at(looks, count, id);
            list[id - 5] = (struct weft_finding){.thread = id,
                                                 .position = at.position,
                                                 .record = {.time = weft_clock(),
                                                            .kind = WEFT_EV_PARK,
                                                            .flags = WEFT_FLAG_SNAPSHOT}};
        }
        CHECK_INT(weft_findings_look_at(looks, count, 7).position, 0);
        weft_findings_post(list, 3);
        weft_sender_wake();
        free(looks);
        put += 2;
    }
    atomic_store(&moving, false);
    pthread_join(mover, NULL);
    finish_after(thread, 1 + atomic_load(&moved) + put);
    CHECK_INT(server.witness.found, put);
}

// A finding about a virtual thread is sent as long as the thread is where it was found: it is not
// mounted, and there was no blackout.
TEST(found_virtual) {
    pthread_t thread;
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    uint64_t put = 0;
    for (int i = 0; i < 20; i++) {
        struct weft_finding *list = calloc(4, sizeof *list);
        for (uint64_t id = 5; id < 9; id++) {
            list[id - 5] =
                (struct weft_finding){.thread = id,
                                      .is_virtual = true,
                                      .record = {.time = weft_clock(),
                                                 .kind = WEFT_EV_PARK,
                                                 .flags = WEFT_FLAG_SNAPSHOT | WEFT_FLAG_VIRTUAL}};
            CHECK(weft_found_note(id) && weft_found_note(id) && weft_found_is(id));
        }
        CHECK_INT(atomic_load(&weft_found_count), 4);
        CHECK(weft_found_forget(6) != 0);
        CHECK(weft_found_forget(6) == 0);
        struct weft_look *looks;
        size_t count;
        weft_findings_post(list, 4);
        while (!weft_findings_look(weft_sender_wake, &looks, &count)) { // a pass after the post
        }
        free(looks);
        put += 3;
    }
    atomic_fetch_add(&weft_blackouts, 1);
    CHECK(!weft_found_is(5));
    weft_found_sweep();
    CHECK(!weft_found_any());
    finish_after(thread, put);
    CHECK_INT(server.witness.found, put);
}

// What was seen of a thread is sent if the thread has written nothing since, by the number of its
// records.
TEST(seen) {
    pthread_t thread;
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    struct weft_buffer *b = weft_buffer_open(5);
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    weft_min_duration_put_now(b, &r, 0);
    for (uint64_t position = 0; position < 3; position++) { // 1 is right for 5, 0 for 8
        struct weft_finding *list = calloc(2, sizeof *list);
        int64_t now = weft_clock();
        for (int i = 0; i < 2; i++) {
            list[i] = (struct weft_finding){
                .thread = i == 0 ? 5 : 8,
                .position = position,
                .seen = true,
                .since = now - 1000,
                .record = {.time = now,
                           .kind = WEFT_EV_PARK,
                           .flags = WEFT_FLAG_SNAPSHOT | WEFT_FLAG_SYSTEM_CALL}};
        }
        struct weft_look *looks;
        size_t count;
        weft_findings_post(list, 2);
        while (!weft_findings_look(weft_sender_wake, &looks, &count)) { // a pass after the post
        }
        free(looks);
    }
    finish_after(thread, 1 + 2);
    CHECK_INT(server.witness.found, 2);
}

static const struct scenario scenarios[] = {
    {"commanded", commanded}, {"controlled", controlled},
    {"mangled", mangled},     {"minimum", minimum},
    {"held_over", held_over}, {"looked", looked},
    {"forgotten", forgotten}, {"relieved", relieved},
    {"found", found},         {"found_virtual", found_virtual},
    {"seen", seen},
};

int main(int argc, char **argv) {
    return run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
