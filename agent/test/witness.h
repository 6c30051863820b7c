// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a stream against the protocol. It is a second implementation of protocol/README.md that
// shares no code with the encoder; it counts events and names the first rule that a stream breaks.

#ifndef WEFT_TEST_WITNESS_H
#define WEFT_TEST_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { WITNESS_KINDS = 64, WITNESS_CLASSES = 1024 };

// Events at locks of one class.
struct witness_class {
    char name[80];
    uint64_t events[WITNESS_KINDS];
    uint64_t worker_events[WITNESS_KINDS];
    uint64_t found[WITNESS_KINDS]; // those from snapshots
    uint64_t sums[WITNESS_KINDS];  // waits in aggregates
    uint64_t owned;
    uint64_t worker_owned;
    uint64_t timed_out;
    uint64_t timed; // parks with a timeout
    uint64_t interrupted;
};

struct witness_thread {
    uint64_t id;
    int64_t last;     // time of its newest event
    uint64_t section; // newest batch with a section of it
    uint64_t blocked; // hash and class of the monitor it is blocked on
    int connection;   // newest connection that defined it
    int open;         // kind of the current call: wait, joinStart, sleepStart; 0: none; -1: unknown
    bool started;
    bool ended;
    bool worker;  // its name starts with worker-
    bool main;    // its name is main
    bool carrier; // according to its definition
    char name[24];
};

struct witness {
    // Results.
    char problem[256]; // empty: none so far
    uint64_t events[WITNESS_KINDS];
    uint64_t lost;
    uint64_t total; // events without gaps
    uint64_t batches;
    uint64_t aggregates;
    uint64_t sums[WITNESS_KINDS]; // waits in aggregates
    uint64_t sum_ns[WITNESS_KINDS];
    uint64_t overflow; // those among them in overflow series
    uint64_t series_with_stack;
    int64_t reported; // end of the last aggregate
    uint64_t interrupted;
    uint64_t timed_out;
    uint64_t owned;    // contendedEnter with an owner
    uint64_t found;    // events from snapshots
    uint64_t answers;  // status frames
    uint64_t refusals; // those with an error
    char answer[512];  // the newest error, depth and pause, as "error|depth|pause"
    uint64_t stacks;   // events with a stack
    uint64_t definition_frames;
    uint64_t thread_frames;
    uint64_t
        worker_events[WITNESS_KINDS]; // of threads named worker-...; startCalled, unpark: to them
    uint64_t worker_lost;
    uint64_t main_events[WITNESS_KINDS];            // of the thread named main
    uint64_t carriers;                              // definitions of them
    uint64_t carrier_events[WITNESS_KINDS];         // their own, not those of threads they carry
    struct witness_class by_class[WITNESS_CLASSES]; // 0: without a class
    char service[128];
    bool hello; // on this connection
    bool taken; // its session is somebody else's: the next hello begins another one
    int sessions;
    bool own_instance; // service.instance.id is the session
    uint64_t base;     // events in earlier sessions
    bool ended;
    int64_t end;     // when the session ended
    uint64_t newest; // batch
    int64_t watermark;
    int connections;

    // Where to print each event as a line, "time thread kind class peer", or NULL. A missing value
    // is a dash. Flags follow as words; after running, its beginning, its duration and the methods
    // of its stack.
    FILE *print;
    char **method_names; // by id, only to print them
    char **stack_texts;

    // State.
    uint8_t *in;
    size_t in_len;
    size_t in_cap;
    uint8_t session[16];
    uint64_t hello_acked;
    uint32_t *classes; // per id, the connection that defined it
    uint32_t *methods;
    uint32_t *stack_ids;
    struct witness_thread *threads;
    size_t thread_count;
    size_t thread_cap;
};

enum { WITNESS_IDS = 1 << 18 };

// The name of a kind of event; unknown kinds have none.
enum { WITNESS_LAST_KIND = 34 };
const char *witness_kind(unsigned kind);

void witness_init(struct witness *w);
void witness_free(struct witness *w);
void witness_connect(struct witness *w); // a new connection of the same session

// Processes bytes as they arrive. False once a rule is broken.
bool witness_feed(struct witness *w, const void *data, size_t len);

#endif
