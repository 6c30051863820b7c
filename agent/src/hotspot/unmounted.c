// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/unmounted.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hotspot/by_id.h"
#include "hotspot/jvm.h"
#include "hotspot/lock_stacks.h"

// Locks by hash, and threads with the places of their locks. What finds no place is not noted: its
// owner stays unknown.
enum { LOCKS = 1 << 13, HOLDERS = 1 << 12, MAX_PROBES = 16 };
enum { RESERVED = 1 }; // a lock without an owner yet; no virtual thread has this id

static struct {
    _Atomic uint64_t owner; // as in by_id.h
    _Atomic uint32_t hash;
} locks[LOCKS];

static _Atomic uint64_t holders[HOLDERS];
static struct {
    unsigned count;
    uint16_t places[WEFT_LOCK_STACK_MAX];
} held_by[HOLDERS];

static atomic_int noted; // threads

static size_t place_of(uint32_t hash, size_t probe) {
    return (hash + probe) % LOCKS;
}

// False if there is no place.
static bool note_lock(uint32_t hash, uint64_t owner, uint16_t *place) {
    for (size_t i = 0; i < MAX_PROBES; i++) {
        size_t at = place_of(hash, i);
        if (weft_by_id_replace(&locks[at].owner, weft_by_id_era_of(owner) | RESERVED)) {
            atomic_store_explicit(&locks[at].hash, hash, memory_order_release);
            atomic_store_explicit(&locks[at].owner, owner, memory_order_release);
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
    int at = count == 0 ? WEFT_BY_ID_NONE : weft_by_id_enter(holders, HOLDERS, id);
    if (at == WEFT_BY_ID_NONE) {
        return;
    }
    uint64_t owner = atomic_load_explicit(&holders[at], memory_order_relaxed);
    atomic_fetch_add(&noted, 1);
    held_by[at].count = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t hash = hash_of(held[i]);
        if (hash != 0 && note_lock(hash, owner, &held_by[at].places[held_by[at].count])) {
            held_by[at].count++;
        }
    }
}

void weft_unmounted_forget(uint64_t id) {
    int at = weft_by_id_find(holders, HOLDERS, id);
    if (at == WEFT_BY_ID_NONE) {
        return;
    }
    uint64_t owner = atomic_load_explicit(&holders[at], memory_order_relaxed);
    if (weft_by_id_era_of(owner) == weft_by_id_era()) {
        for (unsigned i = 0; i < held_by[at].count; i++) {
            uint64_t expected = owner; // else a later era has replaced it
            atomic_compare_exchange_strong(&locks[held_by[at].places[i]].owner, &expected, 0);
        }
    }
    weft_by_id_remove(holders, at);
    atomic_fetch_sub(&noted, 1);
}

bool weft_unmounted_any(void) {
    return atomic_load_explicit(&noted, memory_order_relaxed) != 0;
}

uint64_t weft_unmounted_find(jobject object) {
    uint32_t hash = weft_unmounted_any() ? hash_of(object) : 0;
    uint64_t found = 0;
    uint64_t era = weft_by_id_era();
    for (size_t i = 0; hash != 0 && i < MAX_PROBES; i++) {
        size_t at = place_of(hash, i);
        uint64_t owner = atomic_load_explicit(&locks[at].owner, memory_order_acquire);
        if (weft_by_id_era_of(owner) != era || weft_by_id_of(owner) <= RESERVED ||
            atomic_load_explicit(&locks[at].hash, memory_order_acquire) != hash ||
            atomic_load_explicit(&locks[at].owner, memory_order_acquire) != owner) {
            continue;
        }
        if (found != 0 && found != owner) {
            return 0; // two objects have this hash
        }
        found = owner;
    }
    return weft_by_id_of(found);
}
