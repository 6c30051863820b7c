// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/living.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { BLOCK = 64, BLOCKS = WEFT_LIVING_MAX / BLOCK };

// A removal empties the slot, begins a phase, and waits for the readers of the phase before: those
// of the new one do not see the structure any more. Later readers neither prolong that wait nor do
// they wait.
static struct block {
    atomic_uint phase;
    atomic_uint readers[2]; // of even and odd phases
    _Atomic uintptr_t structures[BLOCK];
    _Atomic uint64_t threads[BLOCK];
} blocks[BLOCKS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;   // guards changes
static pthread_mutex_t removal = PTHREAD_MUTEX_INITIALIZER; // guards phases: one removal waits
static atomic_int slots;                                    // those from here on are empty
static atomic_int found_last;
static _Atomic uint64_t ends;

static uintptr_t structure_at(int slot) {
    return atomic_load_explicit(&blocks[slot / BLOCK].structures[slot % BLOCK],
                                memory_order_relaxed);
}

// The first slot with this content, or the number of slots. The caller holds the mutex.
static int slot_of(uintptr_t structure) {
    int count = atomic_load_explicit(&slots, memory_order_relaxed);
    int slot = 0;
    while (slot < count && structure_at(slot) != structure) {
        slot++;
    }
    return slot;
}

uint64_t weft_living_ends(void) {
    return atomic_load(&ends);
}

static bool add(uintptr_t structure, uint64_t thread) {
    int count = atomic_load_explicit(&slots, memory_order_relaxed);
    if (structure == 0 || slot_of(structure) < count) {
        return structure != 0;
    }
    int slot = slot_of(0);
    if (slot == WEFT_LIVING_MAX) {
        return false;
    }
    struct block *b = &blocks[slot / BLOCK];
    atomic_store_explicit(&b->threads[slot % BLOCK], thread, memory_order_relaxed);
    atomic_store_explicit(&b->structures[slot % BLOCK], structure, memory_order_release);
    if (slot == count) {
        atomic_store(&slots, count + 1);
    }
    return true;
}

bool weft_living_add(uintptr_t structure, uint64_t thread) {
    pthread_mutex_lock(&mutex);
    bool added = add(structure, thread);
    pthread_mutex_unlock(&mutex);
    return added;
}

bool weft_living_add_other(uintptr_t structure, uint64_t thread, uint64_t ends_before) {
    pthread_mutex_lock(&mutex);
    bool added = atomic_load(&ends) == ends_before && add(structure, thread);
    pthread_mutex_unlock(&mutex);
    return added;
}

static void remove_slot(int slot) {
    struct block *b = &blocks[slot / BLOCK];
    int count = atomic_load_explicit(&slots, memory_order_relaxed);
    atomic_store(&b->structures[slot % BLOCK], 0);
    while (count > 0 && structure_at(count - 1) == 0) {
        count--;
    }
    atomic_store(&slots, count);
}

void weft_living_end(uintptr_t structure) {
    pthread_mutex_lock(&mutex);
    int slot = slot_of(structure);
    bool listed = slot < atomic_load_explicit(&slots, memory_order_relaxed);
    if (listed) {
        remove_slot(slot);
    }
    atomic_fetch_add(&ends, 1);
    pthread_mutex_unlock(&mutex);
    if (!listed) {
        return;
    }
    struct block *b = &blocks[slot / BLOCK];
    pthread_mutex_lock(&removal);
    unsigned before = atomic_fetch_add(&b->phase, 1);
    while (atomic_load(&b->readers[before % 2]) != 0) {
        sched_yield(); // a reader reads a few hundred words
    }
    pthread_mutex_unlock(&removal);
}

// Announces a reader in the current phase. A removal that begins meanwhile may have missed it.
static unsigned begin_reading(struct block *b) {
    for (;;) {
        unsigned phase = atomic_load(&b->phase);
        atomic_fetch_add(&b->readers[phase % 2], 1);
        if (atomic_load(&b->phase) == phase) {
            return phase;
        }
        atomic_fetch_sub(&b->readers[phase % 2], 1);
    }
}

// Looks at some slots of one block.
static bool find_in(int first, int count, bool (*look)(uintptr_t, uint64_t, void *), void *to) {
    struct block *b = &blocks[first / BLOCK];
    bool found = false;
    unsigned phase = begin_reading(b);
    for (int slot = first; slot < first + count && !found; slot++) {
        uintptr_t structure =
            atomic_load_explicit(&b->structures[slot % BLOCK], memory_order_acquire);
        uint64_t thread = atomic_load_explicit(&b->threads[slot % BLOCK], memory_order_relaxed);
        if (structure != 0 && look(structure, thread, to)) {
            found = true;
            atomic_store_explicit(&found_last, slot, memory_order_relaxed);
        }
    }
    atomic_fetch_sub(&b->readers[phase % 2], 1);
    return found;
}

bool weft_living_find(bool (*look)(uintptr_t structure, uint64_t thread, void *to), void *to) {
    if (find_in(atomic_load_explicit(&found_last, memory_order_relaxed), 1, look, to)) {
        return true;
    }
    int count = atomic_load(&slots);
    for (int first = 0; first < count; first += BLOCK) {
        if (find_in(first, count - first < BLOCK ? count - first : BLOCK, look, to)) {
            return true;
        }
    }
    return false;
}
