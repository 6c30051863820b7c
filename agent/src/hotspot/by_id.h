// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual threads by id, in tables of fixed size with open addressing. A thread enters itself and
// removes itself, wherever it runs, so its own entry does not change under it. Above the id is the
// number of blackouts at that time: during one, the thread may have gone on unseen, so an entry
// from before is invalid and can be replaced. A thread that is collected leaves its entry behind.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/settings.h"

enum { WEFT_BY_ID_BITS = 48, WEFT_BY_ID_PROBES = 32, WEFT_BY_ID_NONE = -1 };

// The current era, to be combined with an id.
static inline uint64_t weft_by_id_era(void) {
    return (uint64_t)atomic_load_explicit(&weft_blackouts, memory_order_relaxed) << WEFT_BY_ID_BITS;
}

static inline uint64_t weft_by_id_of(uint64_t entry) {
    return entry & ((UINT64_C(1) << WEFT_BY_ID_BITS) - 1);
}

static inline uint64_t weft_by_id_era_of(uint64_t entry) {
    return entry - weft_by_id_of(entry);
}

// Replaces an entry that is free or invalid.
static inline bool weft_by_id_replace(_Atomic uint64_t *entry, uint64_t value) {
    uint64_t old = atomic_load_explicit(entry, memory_order_relaxed);
    return (old == 0 || weft_by_id_era_of(old) != weft_by_id_era_of(value)) &&
           atomic_compare_exchange_strong(entry, &old, value);
}

// Enters a thread; returns its place, or WEFT_BY_ID_NONE if there is none. The size is a power of
// two.
static inline int weft_by_id_enter(_Atomic uint64_t *table, size_t size, uint64_t id) {
    uint64_t entry = weft_by_id_era() | id;
    for (uint64_t i = 0; i < WEFT_BY_ID_PROBES; i++) {
        size_t at = (id + i) & (size - 1);
        if (weft_by_id_replace(&table[at], entry)) {
            return (int)at;
        }
    }
    return WEFT_BY_ID_NONE;
}

// The place of a thread, valid or not.
static inline int weft_by_id_find(_Atomic uint64_t *table, size_t size, uint64_t id) {
    for (uint64_t i = 0; i < WEFT_BY_ID_PROBES; i++) {
        size_t at = (id + i) & (size - 1);
        if (weft_by_id_of(atomic_load_explicit(&table[at], memory_order_relaxed)) == id) {
            return (int)at;
        }
    }
    return WEFT_BY_ID_NONE;
}

// Removes a thread from its place. Returns its entry; another thread may have replaced one that was
// invalid.
static inline uint64_t weft_by_id_remove(_Atomic uint64_t *table, int place) {
    uint64_t old = atomic_load_explicit(&table[place], memory_order_relaxed);
    atomic_compare_exchange_strong(&table[place], &old, 0);
    return old;
}
