// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Does every event arrive once, in order, whatever the receiver does? Threads write into buffers,
// the real sender sends them over a real socket to the witness. One scenario a process: the sender
// is started once. sender_test lists the scenarios and runs itself for each.

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../src/buffer.h"
#include "../src/control.h"
#include "../src/definitions.h"
#include "../src/found.h"
#include "../src/roster.h"
#include "../src/sender.h"
#include "../src/settings.h"
#include "harness.h"
#include "server.h"

static struct server server;
static _Atomic uint64_t next_thread = 1;
static char path[64];

static void *serve(void *unused) {
    (void)unused;
    server_run(&server);
    return NULL;
}

struct writer {
    pthread_t thread;
    int events;
    int pause_us; // after every tenth event
};

static void *write_events(void *argument) {
    const struct writer *w = argument;
    uint64_t id = atomic_fetch_add(&next_thread, 1);
    weft_roster_announce(id, 0, "writer", "test");
    struct weft_buffer *b = weft_buffer_open(id);
    if (b == NULL) {
        return NULL;
    }
    usleep((useconds_t)(id % 8 * 500));
    weft_roster_announce(id, 0, "writer that works", "test"); // by itself, after who started it
    for (int i = 0; i < w->events; i++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        if (i % 5 == 3) { // one that is known only afterwards, with another in between
            struct weft_record inner = {.kind = WEFT_EV_YIELD};
            weft_buffer_begin(b);
            r.time = weft_clock();
            if (i % 1000 == 3) {
                usleep(8000); // the watermark has to wait for this one
                weft_buffer_put(b, &r, 0);
                weft_buffer_put_now(b, &inner, 0);
            } else {
                weft_buffer_put_now(b, &inner, 0);
                weft_buffer_put(b, &r, 0);
            }
            weft_buffer_end(b);
            i++;
        } else {
            weft_buffer_put_now(b, &r, 0);
        }
        if (w->pause_us > 0 && i % 10 == 0) {
            usleep((useconds_t)w->pause_us);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

static pthread_mutex_t hop_mutex = PTHREAD_MUTEX_INITIALIZER;

// One virtual thread, carried now by this writer, now by another: its events stay in order.
static void *carry_events(void *argument) {
    const struct writer *w = argument;
    uint64_t id = atomic_fetch_add(&next_thread, 1);
    weft_roster_announce(id, 0, "carrier", "test");
    struct weft_buffer *b = weft_buffer_open(id);
    if (b == NULL) {
        return NULL;
    }
    for (int i = 0; i < w->events; i++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD, .flags = WEFT_FLAG_VIRTUAL};
        pthread_mutex_lock(&hop_mutex);
        weft_buffer_put_now(b, &r, 1000000);
        pthread_mutex_unlock(&hop_mutex);
        if (i % 50 == 0) {
            usleep(100);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

static void start_server(pthread_t *thread) {
    witness_init(&server.witness);
    CHECK(server_listen(&server, path));
    pthread_create(thread, NULL, serve, NULL);
}

static void start_sender(size_t pool, size_t retain) {
    static char endpoint[80];
    static const struct weft_attribute attributes[] = {{"service.name", "test"}};
    snprintf(endpoint, sizeof endpoint, "unix://%s", path);
    CHECK(weft_pool_init(pool));
    weft_definitions_init(1U << 20);
    struct weft_sender_config config = {
        .endpoint = endpoint,
        .retain = retain,
        .hello = {.session = {1, 2, 3},
                  .monotonic = weft_clock(),
                  .attributes = attributes,
                  .attribute_count = 1},
    };
    CHECK(weft_sender_start(&config));
}

static struct weft_options options_now;

static void start_controlled(size_t pool, size_t retain) {
    weft_options_default(&options_now);
    weft_control_prepare(&options_now, NULL);
    start_sender(pool, retain);
    weft_control_begin();
}

static uint64_t run_writers(int rounds, int count, int events, int pause_us,
                            void *(*body)(void *)) {
    struct writer writers[16];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < count; i++) {
            writers[i] = (struct writer){.events = events, .pause_us = pause_us};
            pthread_create(&writers[i].thread, NULL, body, &writers[i]);
        }
        for (int i = 0; i < count; i++) {
            pthread_join(writers[i].thread, NULL);
        }
    }
    return (uint64_t)rounds * (uint64_t)count * (uint64_t)events;
}

static void finish(pthread_t thread) {
    int64_t before = weft_clock();
    weft_sender_finish(WEFT_END_EXIT);
    CHECK((weft_clock() - before) / 1000000 < 700);
    usleep(100000);
    atomic_store(&server.stop, true);
    pthread_join(thread, NULL);
    CHECK_STRING(server.witness.problem, "");
}

static void expect(uint64_t events) {
    CHECK_INT(server.witness.total + server.witness.lost, events);
    CHECK(server.witness.ended);
}

TEST(plain) {
    pthread_t thread;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(3, 4, 20000, 0, write_events);
    finish(thread);
    expect(events);
    CHECK_INT(server.witness.connections, 1);
}

// A tiny pool: most is lost, and said to be.
TEST(overflow) {
    pthread_t thread;
    start_server(&thread);
    start_sender(64U << 10, 8U << 20);
    uint64_t events = run_writers(2, 8, 20000, 0, write_events);
    finish(thread);
    expect(events);
    CHECK(server.witness.lost > 0);
}

TEST(churn) {
    pthread_t thread;
    start_server(&thread);
    start_sender(1U << 20, 8U << 20);
    uint64_t events = run_writers(1000, 8, 5, 0, write_events);
    finish(thread);
    expect(events);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(cut) {
    pthread_t thread;
    server.cut = 3;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(2, 4, 3000, 300, write_events);
    server.cut = 0;
    finish(thread);
    expect(events);
    CHECK(server.witness.connections > 1);
}

TEST(rude) {
    pthread_t thread;
    server.garbage = 3;
    server.refuse = 1;
    server.silent = 1;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(1, 4, 5000, 2000, write_events);
    usleep(1500000);
    finish(thread);
    expect(events);
}

// No receiver: what does not fit is lost; it comes late, and everything is accounted for.
TEST(late) {
    pthread_t thread;
    start_sender(256U << 10, 1U << 20);
    uint64_t events = run_writers(20, 8, 10000, 0, write_events);
    usleep(200000);
    start_server(&thread);
    events += run_writers(1, 2, 1000, 5000, write_events);
    usleep(5500000);
    finish(thread);
    expect(events);
    CHECK(server.witness.lost > 0);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
}

TEST(unacknowledged) {
    pthread_t thread;
    server.forget = 1;
    start_server(&thread);
    start_sender(16U << 20, 1U << 20);
    uint64_t events = run_writers(1, 2, 4000, 10, write_events);
    finish(thread);
    expect(events);
}

TEST(absent) {
    start_sender(1U << 20, 1U << 20);
    run_writers(1, 2, 1000, 0, write_events);
    int64_t before = weft_clock();
    weft_sender_finish(WEFT_END_EXIT);
    CHECK((weft_clock() - before) / 1000000 < 150);
}

// Nor do threads that come and go without a receiver pile up.
TEST(absent_churn) {
    start_sender(64U << 10, 1U << 20);
    run_writers(1, 4, 30000, 10, write_events); // fills what may be kept
    run_writers(1000, 8, 5, 0, write_events);
    usleep(500000);
    weft_sender_finish(WEFT_END_EXIT);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
}

TEST(hopping) {
    pthread_t thread;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    weft_roster_announce(1000000, WEFT_THREAD_VIRTUAL, "v", "");
    uint64_t events = run_writers(1, 4, 10000, 0, carry_events);
    finish(thread);
    expect(events);
}

// Every control is answered, what is wrong changes nothing, and no event suffers.
TEST(controlled) {
    pthread_t thread;
    server.nag = 501;
    start_server(&thread);
    start_controlled(16U << 20, 8U << 20);
    uint64_t events = run_writers(3, 4, 20000, 10, write_events);
    finish(thread);
    expect(events);
    CHECK_INT(server.witness.answers, 501);
    CHECK_INT(server.witness.refusals, 250);
    CHECK_STRING(server.witness.answer, "|7|off");
    CHECK_INT(weft_depth(WEFT_PLACE_BLOCK), 7);
}

// Each broken control frame costs a connection, and nothing else.
TEST(mangled) {
    pthread_t thread;
    server.mangle = 5;
    start_server(&thread);
    start_controlled(16U << 20, 8U << 20);
    uint64_t events = run_writers(8, 4, 3000, 300, write_events);
    for (int i = 0; i < 100 && server.witness.connections < 6; i++) {
        usleep(50000);
    }
    finish(thread);
    expect(events);
    CHECK_INT(server.witness.connections, 6);
    CHECK_INT(weft_depth(WEFT_PLACE_BLOCK), 16);
}

static _Atomic uint64_t long_enough;

// Waits of all lengths around the minimum, and things that happen within.
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
        weft_buffer_put_now(b, &begin, 0);
        if (rand_r(&seed) % 4 == 0) {
            usleep((useconds_t)(rand_r(&seed) % 3000));
        }
        if (i % 3 != 0) {
            weft_buffer_put_now(b, &waited, 0);
            for (int k = 0; k < i % 7; k++) {
                weft_buffer_put_now(b, &other, 0);
            }
        }
        weft_buffer_put_now(b, &end, 0);
        // More than a hold has room for is told in any case.
        bool spills = i % 3 != 0 && 2 + i % 7 > WEFT_HOLD_RECORDS;
        if (spills || end.time - begin.time >= 1000000) {
            atomic_fetch_add(&long_enough, 1);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

// With a minimum duration: all waits that are long enough, with their ends, and hardly any others;
// and one that never ends.
TEST(minimum) {
    pthread_t thread;
    server.witness.problem[0] = '\0';
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    atomic_store(&weft_settings.min_duration, 1000000);
    weft_roster_announce(77, 0, "worker-dead", "test");
    struct weft_buffer *dead = weft_buffer_open(77);
    struct weft_record park = {.kind = WEFT_EV_PARK};
    weft_buffer_put_now(dead, &park, 0);
    run_writers(1, 8, 4000, 0, wait_around);
    finish(thread);
    const struct witness *w = &server.witness;
    CHECK_INT(w->lost, 0);
    uint64_t begun = w->events[WEFT_EV_PARK] + w->events[WEFT_EV_WAIT];
    CHECK(begun >= atomic_load(&long_enough) + 1);
    CHECK(begun < atomic_load(&long_enough) + 100); // some begin while the sender takes the last
    CHECK_INT(w->events[WEFT_EV_UNPARKED] + w->events[WEFT_EV_WAIT_RETURNED], begun - 1);
    CHECK_INT(w->events[WEFT_EV_PARK], w->events[WEFT_EV_UNPARKED] + 1);
    CHECK(w->events[WEFT_EV_YIELD] > 0);
}

static atomic_bool moving;

static void *move_about(void *argument) {
    struct weft_buffer *b = argument;
    while (atomic_load(&moving)) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        weft_buffer_put_now(b, &r, 0);
        usleep(100);
    }
    return NULL;
}

// What a snapshot finds of a thread that has gone on meanwhile is not told; of one that has not,
// and of one that never wrote anything, it is.
TEST(found) {
    pthread_t thread;
    pthread_t mover;
    start_server(&thread);
    start_controlled(64U << 20, 8U << 20);
    struct weft_buffer *still = weft_buffer_open(5);
    struct weft_buffer *moves = weft_buffer_open(6);
    struct weft_record r = {.kind = WEFT_EV_YIELD};
    weft_buffer_put_now(still, &r, 0);
    atomic_store(&moving, true);
    pthread_create(&mover, NULL, move_about, moves);
    uint64_t put = 0;
    for (int i = 0; i < 20; i++) {
        struct weft_look *looks;
        size_t count;
        CHECK(weft_look(weft_sender_wake, &looks, &count));
        usleep(1000);
        struct weft_found *list = calloc(3, sizeof *list);
        for (uint64_t id = 5; id < 8; id++) {
            struct weft_look at = weft_look_at(looks, count, id);
            list[id - 5] = (struct weft_found){.thread = id,
                                               .position = at.position,
                                               .record = {.time = weft_clock(),
                                                          .kind = WEFT_EV_PARK,
                                                          .flags = WEFT_FLAG_SNAPSHOT}};
        }
        CHECK_INT(weft_look_at(looks, count, 7).position, 0);
        weft_found_post(list, 3);
        weft_sender_wake();
        free(looks);
        put += 2;
    }
    atomic_store(&moving, false);
    pthread_join(mover, NULL);
    usleep(200000);
    finish(thread);
    CHECK(server.witness.found >= put); // the mover may have stood still, too
    CHECK(server.witness.found < put + 20);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"plain", plain},
    {"overflow", overflow},
    {"churn", churn},
    {"cut", cut},
    {"rude", rude},
    {"late", late},
    {"absent", absent},
    {"absent_churn", absent_churn},
    {"hopping", hopping},
    {"unacknowledged", unacknowledged},
    {"controlled", controlled},
    {"mangled", mangled},
    {"minimum", minimum},
    {"found", found},
};

int main(int argc, char **argv) {
    int failed = 0;
    snprintf(path, sizeof path, "/tmp/weft-sender-test-%d.sock", (int)getpid());
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
            harness_test = scenarios[i].name;
            scenarios[i].run();
            unlink(path);
            witness_free(&server.witness);
            return harness_end(scenarios[i].name);
        }
    }
    for (size_t i = 0; argc == 1 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        char command[512];
        snprintf(command, sizeof command, "'%s' %s", argv[0], scenarios[i].name);
        failed += system(command) != 0;
    }
    return failed;
}
