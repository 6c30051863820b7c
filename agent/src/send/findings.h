// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchanges snapshot findings between the thread that takes snapshots and the sender. A finding
// about a thread has to get between the thread's own events, at the right position.
//
// That position is the end of the thread's history when the snapshot began. The sender, which reads
// all histories, reports it (a look), and accepts the finding only if the thread has written
// nothing since. The thread was then in that state all the time, and the time of the finding lies
// between its previous and its next event. For virtual threads, see record/found.h.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

// The end of a thread's history.
struct weft_look {
    uint64_t thread;
    uint64_t position; // records and gaps
    uint16_t kind;     // of its newest event, 0 if none
    bool idle;         // it was not writing
};

// An event created by a snapshot. The record's flags contain WEFT_FLAG_SNAPSHOT.
struct weft_finding {
    uint64_t thread;
    uint64_t position; // the end of its history at the look
    bool is_virtual;   // instead, record/found.h says whether it is still valid
    bool seen;      // by jvmti/calls.h: the position is the number of records that it had written
    int64_t since;  // of what was seen: the record's duration ends with its time; 0: none
    int64_t queued; // of a reading, which has the kind cpu; -1: not known
    struct weft_record record;
};

// Snapshot side.

// Once, before all others.
void weft_findings_init(void);

// Requests the ends of all histories from the sender, waking it with the given function. The looks
// are sorted by thread id and belong to the caller. False on timeout or without memory.
bool weft_findings_look(void (*wake)(void), struct weft_look **looks, size_t *count);

// Returns the look at a thread, or one without history.
struct weft_look weft_findings_look_at(const struct weft_look *looks, size_t count,
                                       uint64_t thread);

// Passes findings to the sender, at most one per thread, and the ownership of the memory (malloc).
// Drops them if too many are waiting.
void weft_findings_post(struct weft_finding *found, size_t count);

// Sender side.

struct weft_posted_findings;

struct weft_findings {
    struct weft_posted_findings *queue;
    struct weft_finding *list; // sorted by thread id
    size_t count;
    struct weft_look *looks; // of the current look
    size_t look_count;
    size_t look_cap;
    bool looking;
};

// Begins a pass: fetches posted findings and requests.
void weft_findings_begin(struct weft_findings *f);

// Drops the findings of the previous session.
void weft_findings_drop(struct weft_findings *f);

// Notes the end of a history, if requested.
void weft_findings_note_look(struct weft_findings *f, const struct weft_look *look);

// Returns the finding about a thread, NULL if none.
struct weft_finding *weft_findings_of(struct weft_findings *f, uint64_t thread);

// Ends a pass over all threads. Complete: it also accepted or rejected all findings.
void weft_findings_end(struct weft_findings *f, bool complete);
