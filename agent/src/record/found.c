// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/found.h"

#include <pthread.h>
#include <stddef.h>

#include "hotspot/by_id.h"

enum { SLOTS = 2 * WEFT_FOUND_MAX };

atomic_int weft_found_count;

static _Atomic uint64_t slots[SLOTS]; // entries of by_id.h

// Two snapshots may coincide: each thread is noted once.
static pthread_mutex_t noting = PTHREAD_MUTEX_INITIALIZER;

static uint64_t remove_at(size_t at) {
    uint64_t entry = atomic_exchange(&slots[at], 0);
    if (entry != 0) {
        atomic_fetch_sub(&weft_found_count, 1);
    }
    return entry;
}

void weft_found_sweep(void) {
    for (size_t i = 0; weft_found_any() && i < SLOTS; i++) {
        uint64_t entry = atomic_load_explicit(&slots[i], memory_order_relaxed);
        if (entry != 0 && weft_by_id_era_of(entry) != weft_by_id_era()) {
            remove_at(i);
        }
    }
}

bool weft_found_note(uint64_t id) {
    pthread_mutex_lock(&noting);
    if (!weft_found_is(id)) {
        weft_found_forget(id); // from before a blackout
        bool room = atomic_fetch_add(&weft_found_count, 1) < WEFT_FOUND_MAX;
        if (!room || weft_by_id_enter(slots, SLOTS, id) == WEFT_BY_ID_NONE) {
            atomic_fetch_sub(&weft_found_count, 1);
        }
    }
    bool noted = weft_found_is(id);
    pthread_mutex_unlock(&noting);
    return noted;
}

bool weft_found_is(uint64_t id) {
    int at = weft_by_id_find(slots, SLOTS, id);
    return at != WEFT_BY_ID_NONE && atomic_load(&slots[at]) == (weft_by_id_era() | id);
}

uint64_t weft_found_forget(uint64_t id) {
    int at = weft_by_id_find(slots, SLOTS, id);
    return at == WEFT_BY_ID_NONE ? 0 : remove_at((size_t)at);
}
