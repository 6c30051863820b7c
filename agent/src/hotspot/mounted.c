// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/mounted.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hotspot/by_id.h"

// The JVM has at most a few hundred carriers. What finds no place is unknown only until it is asked
// for: then the carrier counts as the owner.
enum { CARRIERS = 1 << 12, MAX_PROBES = 16 };

static struct {
    _Atomic uint64_t carrier; // 0: free
    _Atomic uint64_t thread;  // as in by_id.h; valid in its era only
    _Atomic uint64_t mounts;
} carriers[CARRIERS];

static bool enabled;
static atomic_int known;    // carriers
static __thread size_t own; // place of the current carrier, plus 1; 0: not known

void weft_mounted_enable(void) {
    enabled = true;
}

bool weft_mounted_enabled(void) {
    return enabled;
}

// The place of a carrier plus 1, or 0. With add, it gets one.
static size_t place_of(uint64_t carrier, bool add) {
    for (uint64_t i = 0; i < MAX_PROBES; i++) {
        size_t at = (carrier + i) % CARRIERS;
        uint64_t there = atomic_load(&carriers[at].carrier);
        if (there == carrier) {
            return at + 1;
        }
        if (there == 0 && !add) {
            continue; // one that ended may have been here
        }
        if (there == 0 && atomic_compare_exchange_strong(&carriers[at].carrier, &there, carrier)) {
            atomic_fetch_add(&known, 1);
            return at + 1;
        }
    }
    return 0;
}

// An era that never comes makes it unknown.
void weft_mounted_add(uint64_t carrier) {
    if (enabled && place_of(carrier, false) == 0) {
        size_t at = place_of(carrier, true);
        if (at != 0) {
            atomic_store(&carriers[at - 1].thread, UINT64_MAX);
        }
    }
}

void weft_mounted_set(uint64_t carrier, uint64_t thread) {
    if (own == 0) {
        own = place_of(carrier, false);
        own = own != 0 ? own : place_of(carrier, true);
    }
    if (own != 0) {
        atomic_fetch_add(&carriers[own - 1].mounts, 1);
        atomic_store(&carriers[own - 1].thread, weft_by_id_era() | thread);
    }
}

void weft_mounted_end(uint64_t carrier) {
    size_t at = enabled ? place_of(carrier, false) : 0;
    if (at != 0) {
        atomic_store(&carriers[at - 1].carrier, 0);
        atomic_fetch_sub(&known, 1);
    }
    own = 0;
}

bool weft_mounted_resolve(uint64_t *id, uint64_t *state) {
    size_t at = atomic_load(&known) > 0 ? place_of(*id, false) : 0;
    *state = 0;
    if (at == 0) {
        return true;
    }
    *state = atomic_load(&carriers[at - 1].mounts);
    uint64_t thread = atomic_load(&carriers[at - 1].thread);
    if (weft_by_id_era_of(thread) != weft_by_id_era()) {
        return false;
    }
    *id = weft_by_id_of(thread) != 0 ? weft_by_id_of(thread) : *id;
    return true;
}
