// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many waits were there of a sort, and how long did they take?
//
// Threads add to tables, of which there are a few, so that they seldom meet: nobody ever waits for
// another. The sender takes the sums out. Each wait is taken out once.

#ifndef WEFT_SUMS_H
#define WEFT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct weft_sort {
    uint32_t class_id;
    uint32_t stack;
    uint16_t kind; // of the event that begins such a wait
};

// Makes room for so many series, over all tables; what is above goes to one for each kind. Call
// once, before anything else. False if the memory cannot be reserved.
bool weft_sums_init(size_t series);

// Adds a wait; a negative duration counts as none. Home tells which table is tried first: any
// number, the same for a thread.
void weft_sums_add(const struct weft_sort *sort, int64_t duration, unsigned home);

// Where the sender wants the sums to go.
struct weft_sink {
    bool (*room)(void *to); // for one more series
    void (*put)(void *to, const struct weft_series *series, const uint64_t *buckets,
                uint16_t count);
    void *to;
};

// Takes the sums out: puts each series that is not empty, until there is no room; what was not put
// stays.
void weft_sums_collect(const struct weft_sink *sink);

// Has anything been added since the last collect?
bool weft_sums_have_news(void);

#endif
