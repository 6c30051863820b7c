// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/unmounted.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hotspot/jvm.h"
#include "hotspot/lock_stacks.h"
#include "options/settings.h"

// Two tables with open addressing: locks by hash, and threads by id with the places of their locks.
// Above an id is the number of blackouts at that time, so what was noted before a blackout, in
// which the thread may have been mounted unseen, is invalid and can be replaced. What finds no place
// is not noted: its owner stays unknown.
enum { LOCKS = 1 << 13, HOLDERS = 1 << 12, MAX_PROBES = 16, ID_BITS = 48 };

static const uint64_t ID_MASK = (UINT64_C(1) << ID_BITS) - 1;
static const uint64_t RESERVED = 1; // an entry without an owner yet; no virtual thread has this id

static struct {
    _Atomic uint64_t owner; // 0: free
    _Atomic uint32_t hash;
} locks[LOCKS];

// Only the thread itself, on whatever carrier, uses its entry.
static struct {
    _Atomic uint64_t thread; // 0: free
    unsigned count;
    uint16_t places[WEFT_LOCK_STACK_MAX];
} holders[HOLDERS];

static atomic_int noted; // threads

static uint64_t era(void) {
    return (uint64_t)atomic_load_explicit(&weft_blackouts, memory_order_relaxed) << ID_BITS;
}

// Takes an entry that is free or invalid.
static bool reserve(_Atomic uint64_t *entry, uint64_t value, uint64_t now) {
    uint64_t old = atomic_load_explicit(entry, memory_order_relaxed);
    return (old == 0 || (old & ~ID_MASK) != now) &&
           atomic_compare_exchange_strong(entry, &old, value);
}

static size_t place_of(uint32_t hash, size_t probe) {
    return (hash + probe) % LOCKS;
}

// False if there is no place.
static bool note_lock(uint32_t hash, uint64_t id, uint64_t now, uint16_t *place) {
    for (size_t i = 0; i < MAX_PROBES; i++) {
        size_t at = place_of(hash, i);
        if (reserve(&locks[at].owner, now | RESERVED, now)) {
            atomic_store_explicit(&locks[at].hash, hash, memory_order_release);
            atomic_store_explicit(&locks[at].owner, now | id, memory_order_release);
            *place = (uint16_t)at;
            return true;
        }
    }
    return false;
}

static uint32_t hash_of(jobject object) {
    jint hash = 0;
    return (*weft_jvm.ti)->GetObjectHashCode(weft_jvm.ti, object, &hash) == JVMTI_ERROR_NONE
               ? (uint32_t)hash
               : 0;
}

void weft_unmounted_note(JNIEnv *env, uint64_t id) {
    jobject held[WEFT_LOCK_STACK_MAX];
    unsigned count = weft_lock_stacks_held(env, held);
    uint64_t now = era();
    if (count == 0) {
        return;
    }
    for (uint64_t i = 0; i < MAX_PROBES; i++) {
        size_t at = (id + i) % HOLDERS;
        if (!reserve(&holders[at].thread, now | id, now)) {
            continue;
        }
        atomic_fetch_add(&noted, 1);
        holders[at].count = 0;
        for (unsigned k = 0; k < count; k++) {
            uint32_t hash = hash_of(held[k]);
            if (hash != 0 && note_lock(hash, id, now, &holders[at].places[holders[at].count])) {
                holders[at].count++;
            }
        }
        return;
    }
}

static void forget_lock(size_t place, uint64_t owner) {
    // On failure, another thread has replaced an invalid entry.
    atomic_compare_exchange_strong(&locks[place].owner, &owner, 0);
}

void weft_unmounted_forget(uint64_t id) {
    for (uint64_t i = 0; i < MAX_PROBES; i++) {
        size_t at = (id + i) % HOLDERS;
        uint64_t entry = atomic_load_explicit(&holders[at].thread, memory_order_relaxed);
        if ((entry & ID_MASK) != id) {
            continue;
        }
        if (entry == (era() | id)) {
            for (unsigned k = 0; k < holders[at].count; k++) {
                forget_lock(holders[at].places[k], entry);
            }
        }
        if (atomic_compare_exchange_strong(&holders[at].thread, &entry, 0)) {
            atomic_fetch_sub(&noted, 1);
        }
        return;
    }
}

bool weft_unmounted_any(void) {
    return atomic_load_explicit(&noted, memory_order_relaxed) != 0;
}

uint64_t weft_unmounted_find(jobject object) {
    uint32_t hash = weft_unmounted_any() ? hash_of(object) : 0;
    uint64_t found = 0;
    uint64_t now = era();
    for (size_t i = 0; hash != 0 && i < MAX_PROBES; i++) {
        size_t at = place_of(hash, i);
        uint64_t owner = atomic_load_explicit(&locks[at].owner, memory_order_acquire);
        if ((owner & ~ID_MASK) != now || (owner & ID_MASK) <= RESERVED ||
            atomic_load_explicit(&locks[at].hash, memory_order_acquire) != hash ||
            atomic_load_explicit(&locks[at].owner, memory_order_acquire) != owner) {
            continue;
        }
        if (found != 0 && found != owner) {
            return 0; // two objects have this hash
        }
        found = owner;
    }
    return found & ID_MASK;
}
