// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of waits by class, stack and kind.
//
// Threads add to one of a few tables, so that they seldom meet; no thread ever waits for another.
// The sender collects the sums; each wait is collected once.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct weft_sort {
    uint32_t class_id;
    uint32_t stack;
    uint16_t kind; // of the event that begins such a wait
};

// Reserves room for a number of series over all tables; further waits go to one series per kind.
// Call once, before anything else. False if the memory cannot be reserved.
bool weft_sums_init(size_t series);

// Adds a wait; a negative duration counts as 0. Home selects the table to try first: any number,
// constant per thread.
void weft_sums_add(const struct weft_sort *sort, int64_t duration, unsigned home);

// Receives the sums.
struct weft_sink {
    bool (*room)(void *to); // for one more series
    void (*put)(void *to, const struct weft_series *series, const uint64_t *buckets,
                uint16_t count);
    void *to;
};

// Collects the sums: puts each nonempty series while there is room; the rest stays.
void weft_sums_collect(const struct weft_sink *sink);

// Whether anything was added since the last collect.
bool weft_sums_have_news(void);
