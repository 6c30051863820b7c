// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a thread that it did not write into its history? What it holds back, what a
// snapshot found, that recording stops, that it ended unseen. All are parts of a pass, and return
// false if there is no room for more.

#ifndef WEFT_OTHERS_H
#define WEFT_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "drain.h"

// Puts what a thread holds back if it is due, and if it did not do so itself meanwhile. Then and
// only then the thread has written nothing since the look.
bool weft_take_held(struct weft_drain *d, struct weft_buffer *b, const struct weft_hold_look *hold,
                    bool due, size_t *total);

// Puts what others know of a thread whose history was taken up to the limit. Now is when the pass
// began; hold is what it held back at the look.
bool weft_take_others(struct weft_drain *d, struct weft_buffer *b, uint64_t limit, int64_t now,
                      const struct weft_hold_look *hold, bool idle, bool closed, size_t *total);

// Answers how far the history of a thread has got, if a snapshot wants to know. That can be told
// even if there is no room to take it.
void weft_look_at_buffer(struct weft_drain *d, const struct weft_buffer *b, uint64_t limit,
                         bool idle, bool holds);

// Puts what a snapshot found of threads that have not written anything yet.
bool weft_take_silent(struct weft_drain *d, size_t *total);

#endif
