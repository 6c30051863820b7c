// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Suppresses waits shorter than a minimum duration. A thread does not write the beginning of a wait
// but holds it back. If the wait ends before the minimum, all of it is dropped. Otherwise the
// sender takes the held records, so a wait that never ends, as in a deadlock, is sent as soon as it
// has lasted that long.
//
// A wait that begins while the sender is still taking the thread's previous one is always recorded.
//
// The state determines the owner of the held records: the thread that adds to them, or the sender
// that takes them. It changes by compare-and-swap only and contains a number that increases with
// each hold, so holds cannot be confused.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/buffer.h"
#include "wire/clock.h"

// Thread side, between weft_buffer_begin and weft_buffer_end: writes a record with
// weft_buffer_write, or holds it back. Returns false if it dropped the record, as the end of a wait
// that was too short.
bool weft_min_duration_put(struct weft_buffer *b, struct weft_record *record, uint64_t subject);

// The same for the beginning of a wait and a record before it, of the same time: they are written,
// held back and dropped together.
bool weft_min_duration_put_pair(struct weft_buffer *b, struct weft_record *before,
                                struct weft_record *record, uint64_t subject);

// Thread side: whether a pair is held back.
bool weft_min_duration_holds_pair(struct weft_buffer *b);

// Records an event that happens now.
static inline void weft_min_duration_put_now(struct weft_buffer *b, struct weft_record *record,
                                             uint64_t subject) {
    weft_buffer_begin(b);
    record->time = weft_clock();
    weft_min_duration_put(b, record, subject);
    weft_buffer_end(b);
}

// Sender side: the state of a hold at a given time.
struct weft_held_look {
    uint64_t state;
    int64_t since; // INT64_MAX: nothing is held
    bool clear;    // false: the thread changed it during the look
};

struct weft_held_look weft_min_duration_look(struct weft_held *h);

// Takes the records held at the look, if they still are: returns their number; they stay in place
// until weft_min_duration_taken. 0 if the thread was faster.
size_t weft_min_duration_take(struct weft_held *h, const struct weft_held_look *look);
void weft_min_duration_taken(struct weft_held *h);
