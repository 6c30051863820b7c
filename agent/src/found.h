// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What were threads found to be doing? A snapshot is taken by a thread that looks at the others;
// what it finds has to get between their own events, at the right place.
//
// The place is where the thread's history had got to when the snapshot began. The sender, which
// reads all histories, tells that place (a look), and takes what was found then only if the thread
// has written nothing since: so it was in that state all the time, and the time of the finding is
// later than all that the thread wrote before, and earlier than all that it will write.

#ifndef WEFT_FOUND_H
#define WEFT_FOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

// How far a thread's history had got.
struct weft_look {
    uint64_t thread;
    uint64_t position; // records and gaps
    uint16_t kind;     // of its newest event, 0 if there is none
    bool idle;         // it was not just writing
};

// An event that a snapshot makes up. The record's flags have WEFT_FLAG_SNAPSHOT.
struct weft_found {
    uint64_t thread;
    uint64_t position; // how far its history had got
    struct weft_record record;
};

// The snapshot's side.

// Asks the sender how far all histories have got, waking it by the given function. The looks are in
// the order of the threads' ids and belong to the caller. False if the sender does not answer in
// time or there is no memory.
bool weft_look(void (*wake)(void), struct weft_look **looks, size_t *count);

// Returns the look at a thread; one at a thread without history if there is none.
struct weft_look weft_look_at(const struct weft_look *looks, size_t count, uint64_t thread);

// Hands over what was found, one event a thread; the memory (from malloc) goes with it. It is
// thrown away if too much waits already.
void weft_found_post(struct weft_found *found, size_t count);

// The sender's side.

struct weft_posted;

struct weft_finding {
    struct weft_posted *queue;
    struct weft_found *list; // in the order of the threads' ids
    size_t count;
    struct weft_look *looks; // of the look that is being made
    size_t look_count;
    size_t look_cap;
    bool looking;
};

// Begins a pass: fetches what was posted, and whether somebody wants a look.
void weft_finding_begin(struct weft_finding *f);

// Throws away what was found in the session before.
void weft_finding_drop(struct weft_finding *f);

// Notes how far a history has got, if somebody wants to know.
void weft_finding_look(struct weft_finding *f, const struct weft_look *look);

// What was found of a thread, NULL if nothing.
struct weft_found *weft_finding_of(struct weft_finding *f, uint64_t thread);

// Ends a pass that has looked at all threads. Complete: it has taken all of them, too.
void weft_finding_end(struct weft_finding *f, bool complete);

#endif
