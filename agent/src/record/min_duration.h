// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Has a wait lasted long enough to be told? With a minimum duration, a thread does not write the
// beginning of a wait into its history but holds it back. If the wait ends before the time is over,
// it was too short: all of it is forgotten. If it lasts, the sender takes what is held: so a wait
// that never ends, as in a deadlock, is told as soon as it has lasted for the minimum.
//
// A wait that begins while the sender still takes the last one of the thread is told in any case.
//
// What is held has one owner at a time, as the state says: the thread that adds to it, or the
// sender that takes it. The state is changed with compare-and-swap only, and has a number that goes
// up with each hold, so that none is taken for another.

#ifndef WEFT_MIN_DURATION_H
#define WEFT_MIN_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/buffer.h"
#include "wire/clock.h"

// The thread's side, between weft_buffer_begin and weft_buffer_end: writes a record with
// weft_buffer_write, or holds it back.
void weft_min_duration_put(struct weft_buffer *b, struct weft_record *record, uint64_t subject);

// Records an event that happens now.
static inline void weft_min_duration_put_now(struct weft_buffer *b, struct weft_record *record,
                                             uint64_t subject) {
    weft_buffer_begin(b);
    record->time = weft_clock();
    weft_min_duration_put(b, record, subject);
    weft_buffer_end(b);
}

// The sender's side: what the hold of a thread was like at one moment.
struct weft_held_look {
    uint64_t state;
    int64_t since; // INT64_MAX: nothing is held
    bool clear;    // false: the thread changed it too fast to say
};

struct weft_held_look weft_min_duration_look(struct weft_held *h);

// Takes what was held at the look, if it still is: returns the number of records, and they stay in
// place until weft_min_duration_taken. 0 if the thread was faster.
size_t weft_min_duration_take(struct weft_held *h, const struct weft_held_look *look);
void weft_min_duration_taken(struct weft_held *h);

#endif
