// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writing threads and a counting receiver, shared by tests of the sender.

#ifndef WEFT_SENDING_H
#define WEFT_SENDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "record/definitions.h"
#include "record/min_duration.h"
#include "record/roster.h"
#include "send/sender.h"
#include "server.h"

static struct server server;
static _Atomic uint64_t next_thread = 1;
static char path[64];
static int finish_ms = 60000; // generous, for busy machines

// Ends tests that hang; passing tests never depend on it.
enum { WATCHDOG_S = 1800 };

static inline void *serve(void *unused) {
    (void)unused;
    server_run(&server);
    return NULL;
}

struct writer {
    pthread_t thread;
    int events;
    int pause_us; // after every tenth event
};

// Opens the buffer of a new thread. NULL if there is no memory.
static inline struct weft_buffer *open_writer(const char *name) {
    uint64_t id = atomic_fetch_add(&next_thread, 1);
    weft_roster_announce(id, 0, name, "test");
    return weft_buffer_open(id);
}

static inline void *write_events(void *argument) {
    const struct writer *w = argument;
    struct weft_buffer *b = open_writer("writer");
    if (b == NULL) {
        return NULL;
    }
    usleep((useconds_t)(b->thread % 8 * 500));
    // By itself, after who started it.
    weft_roster_announce(b->thread, 0, "writer that works", "test");
    for (int i = 0; i < w->events; i++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        if (i % 5 == 3) { // an event known only afterwards, with another in between
            struct weft_record inner = {.kind = WEFT_EV_YIELD};
            weft_buffer_begin(b);
            r.time = weft_clock();
            if (i % 1000 == 3) {
                usleep(8000); // the watermark has to wait for this one
                weft_min_duration_put(b, &r, 0);
                weft_min_duration_put_now(b, &inner, 0);
            } else {
                weft_min_duration_put_now(b, &inner, 0);
                weft_min_duration_put(b, &r, 0);
            }
            weft_buffer_end(b);
            i++;
        } else {
            weft_min_duration_put_now(b, &r, 0);
        }
        if (w->pause_us > 0 && i % 10 == 0) {
            usleep((useconds_t)w->pause_us);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

// Writes a gap that counts no lost events after each event, like a thread whose waits may be
// invisible.
static inline void *write_blindly(void *argument) {
    const struct writer *w = argument;
    struct weft_buffer *b = open_writer("writer");
    if (b == NULL) {
        return NULL;
    }
    for (int i = 0; i < w->events; i++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        struct weft_record gap = {.kind = WEFT_EV_GAP};
        weft_min_duration_put_now(b, &r, 0);
        weft_min_duration_put_now(b, &gap, 0);
    }
    weft_buffer_close(b);
    return NULL;
}

static pthread_mutex_t hop_mutex = PTHREAD_MUTEX_INITIALIZER;

// Writes events of a virtual thread, which stay in order.
static inline void *carry_in(struct weft_buffer *b, const struct writer *w) {
    if (b == NULL) {
        return NULL;
    }
    for (int i = 0; i < w->events; i++) {
        struct weft_record r = {.kind = WEFT_EV_YIELD, .flags = WEFT_FLAG_VIRTUAL};
        pthread_mutex_lock(&hop_mutex);
        weft_min_duration_put_now(b, &r, 1000000);
        pthread_mutex_unlock(&hop_mutex);
        if (i % 50 == 0) {
            usleep(100);
        }
    }
    weft_buffer_close(b);
    return NULL;
}

// A virtual thread that moves between two writers.
static inline void *carry_events(void *argument) {
    return carry_in(open_writer("carrier"), argument);
}

// A thread of the agent, which writes only events of others: its buffer is of no thread.
static inline void *carry_for_others(void *argument) {
    return carry_in(weft_buffer_open(0), argument);
}

static inline void start_server(pthread_t *thread) {
    witness_init(&server.witness);
    CHECK(server_listen(&server, path));
    pthread_create(thread, NULL, serve, NULL);
}

static _Atomic int renewals;

static inline bool on_renewal(const uint8_t before[16], const uint8_t session[16]) {
    CHECK(memcmp(before, session, 16) != 0);
    atomic_fetch_add(&renewals, 1);
    return false;
}

static _Atomic int expiries;
static int64_t give_up;
static int64_t duration;

static inline bool on_expiry(uint64_t session) {
    CHECK_INT(session, 7);
    return atomic_fetch_add(&expiries, 1) > 0; // the first attempt fails
}

static inline void begin_session(size_t retain) {
    static char endpoint[80];
    static const struct weft_attribute attributes[] = {{"service.name", "test"}};
    snprintf(endpoint, sizeof endpoint, "unix://%s", path);
    struct weft_sender_config config = {
        .endpoint = endpoint,
        .retain = retain,
        .finish_ms = finish_ms,
        .hello = {.session = {1, 2, 3},
                  .monotonic = weft_clock(),
                  .attributes = attributes,
                  .attribute_count = 1},
        .renewed = on_renewal,
        .give_up = give_up,
        .duration = duration,
        .session = 7,
        .expired = on_expiry,
    };
    char problem[WEFT_PROBLEM_MAX] = "";
    CHECK(weft_sender_start(&config, problem));
    CHECK_STRING(problem, "");
}

static inline void start_sender(size_t pool, size_t retain) {
    CHECK(weft_pool_init(pool));
    weft_definitions_init(1U << 20);
    begin_session(retain);
}

static inline uint64_t run_writers(int rounds, int count, int events, int pause_us,
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

// Ends the session when the receiver has seen a number of events, and waits until it has seen the
// end.
static inline void finish_after(pthread_t thread, uint64_t events) {
    while (atomic_load(&server.seen) < events && !atomic_load(&server.over)) {
        usleep(1000);
    }
    weft_sender_finish(WEFT_END_EXIT);
    pthread_join(thread, NULL);
    CHECK_STRING(server.witness.problem, "");
}

static inline void finish(pthread_t thread) {
    finish_after(thread, 0);
}

static inline void expect(uint64_t events) {
    CHECK_INT(server.witness.total + server.witness.lost, events);
    CHECK(server.witness.ended);
}

struct scenario {
    const char *name;
    void (*run)(void);
};

// Runs the named scenario, or each in its own process.
static inline int run_scenarios(int argc, char **argv, const struct scenario *scenarios,
                                size_t count) {
    int failed = 0;
    snprintf(path, sizeof path, "/tmp/weft-sender-test-%d.sock", (int)getpid());
    for (size_t i = 0; i < count; i++) {
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
            harness_test = scenarios[i].name;
            alarm(WATCHDOG_S);
            scenarios[i].run();
            unlink(path);
            witness_free(&server.witness);
            return harness_end(scenarios[i].name);
        }
    }
    for (size_t i = 0; argc == 1 && i < count; i++) {
        char command[512];
        snprintf(command, sizeof command, "'%s' %s", argv[0], scenarios[i].name);
        failed += system(command) != 0;
    }
    return failed;
}

#endif
