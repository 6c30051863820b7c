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

#ifndef WEFT_FINDINGS_H
#define WEFT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

// How far a thread's history had got.
struct weft_look {
    uint64_t thread;
    uint64_t position; // records and gaps
    uint16_t kind;     // of its newest event, 0 if there is none
    bool idle;         // it was not just writing
};

// An event that a snapshot makes up. The record's flags have WEFT_FLAG_SNAPSHOT.
struct weft_finding {
    uint64_t thread;
    uint64_t position; // how far its history had got
    struct weft_record record;
};

// The snapshot's side.

// Asks the sender how far all histories have got, waking it by the given function. The looks are in
// the order of the threads' ids and belong to the caller. False if the sender does not answer in
// time or there is no memory.
bool weft_findings_look(void (*wake)(void), struct weft_look **looks, size_t *count);

// Returns the look at a thread; one at a thread without history if there is none.
struct weft_look weft_findings_look_at(const struct weft_look *looks, size_t count,
                                       uint64_t thread);

// Hands over what was found, one event a thread; the memory (from malloc) goes with it. It is
// thrown away if too much waits already.
void weft_findings_post(struct weft_finding *found, size_t count);

// The sender's side.

struct weft_posted_findings;

struct weft_findings {
    struct weft_posted_findings *queue;
    struct weft_finding *list; // in the order of the threads' ids
    size_t count;
    struct weft_look *looks; // of the look that is being made
    size_t look_count;
    size_t look_cap;
    bool looking;
};

// Begins a pass: fetches what was posted, and whether somebody wants a look.
void weft_findings_begin(struct weft_findings *f);

// Throws away what was found in the session before.
void weft_findings_drop(struct weft_findings *f);

// Notes how far a history has got, if somebody wants to know.
void weft_findings_note_look(struct weft_findings *f, const struct weft_look *look);

// What was found of a thread, NULL if nothing.
struct weft_finding *weft_findings_of(struct weft_findings *f, uint64_t thread);

// Ends a pass that has looked at all threads. Complete: it has taken all of them, too.
void weft_findings_end(struct weft_findings *f, bool complete);

#endif
