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

#ifndef WEFT_HOLD_H
#define WEFT_HOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

// A wait, waited, contendedEnter, contendedEntered, and one more between them.
enum { WEFT_HOLD_RECORDS = 6 };

struct weft_hold {
    _Atomic uint64_t state;
    _Atomic int64_t since; // time of the first record
    struct weft_record records[WEFT_HOLD_RECORDS];
};

struct weft_buffer;

// The thread's side, between weft_buffer_begin and weft_buffer_end. True if the hold has taken care
// of the record; false if it is to be written as ever.
bool weft_hold_put(struct weft_buffer *b, struct weft_record *record);

// The sender's side: what the hold of a thread was like at one moment.
struct weft_hold_look {
    uint64_t state;
    int64_t since; // INT64_MAX: nothing is held
    bool clear;    // false: the thread changed it too fast to say
};

struct weft_hold_look weft_hold_look(struct weft_hold *h);

// Takes what was held at the look, if it still is: returns the number of records, and they stay in
// place until weft_hold_taken. 0 if the thread was faster.
size_t weft_hold_take(struct weft_hold *h, const struct weft_hold_look *look);
void weft_hold_taken(struct weft_hold *h);

#endif
