// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "hotspot/jvm.h"
#include "hotspot/notices.h"
#include "hotspot/walk.h"
#include "options/options.h"
#include "record/definitions.h"
#include "record/identity.h"
#include "record/lock_names.h"
#include "record/methods.h"
#include "wire/wire.h"

// Open addressing by a 64-bit hash of the frames; an entry is complete once its id is not 0.
enum { STACK_SLOTS = 1 << 16, MAX_PROBES = 64 };

static struct {
    _Atomic uint32_t id;
    uint64_t hash;
} stacks[STACK_SLOTS];

// A cache from fingerprints (walk.h) to stacks. A slot holds the upper bits of a fingerprint and
// the stack's id in one word, so it needs no lock. Evicted entries are resolved again.
enum { KNOWN_SETS = 1 << 13, KNOWN_WAYS = 4, MAX_MISMATCHES = 3, FIRST_CHECKS = 4096 };
enum { DOUBT_EACH = 8192 };
static const uint64_t ID_MASK = 0x1FFFF;
static const uint64_t SEEN_TWICE = 0x10000; // in the id: confirmed once

static struct {
    atomic_bool usable;
    atomic_int mismatches;
    _Atomic uint64_t slots[KNOWN_SETS][KNOWN_WAYS];
} known;
static atomic_int first_checks = FIRST_CHECKS; // left to do; apart, so that the file has no slots

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t stack_count;

static uint64_t hash_frames(const jvmtiFrameInfo *frames, jint count, bool truncated) {
    uint64_t h = truncated ? 0x84222325CBF29CE4ULL : 0xCBF29CE484222325ULL;
    for (jint i = 0; i < count; i++) {
        h = (h ^ (uintptr_t)frames[i].method) * 0x9E3779B97F4A7C15ULL;
        h = (h ^ (uint64_t)frames[i].location ^ h >> 29) * 0xBF58476D1CE4E5B9ULL;
    }
    return h ^ h >> 32;
}

static uint32_t find(uint64_t hash, uint32_t *slot) {
    uint32_t at = (uint32_t)(hash % STACK_SLOTS);
    for (int probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) % STACK_SLOTS) {
        uint32_t id = atomic_load_explicit(&stacks[at].id, memory_order_acquire);
        if (id == 0 || stacks[at].hash == hash) {
            *slot = at;
            return id;
        }
    }
    *slot = STACK_SLOTS;
    return 0;
}

static uint32_t define(uint64_t hash, const struct weft_frame *frames, uint16_t count,
                       uint16_t flags, const struct weft_named_lock *lock) {
    uint32_t slot;
    struct weft_bytes frame = {0};
    pthread_mutex_lock(&mutex);
    uint32_t id = find(hash, &slot);
    if (id == 0 && slot != STACK_SLOTS && stack_count < STACK_SLOTS / 4 * 3) {
        weft_wire_put_stack(&frame, stack_count + 1, flags, frames, count, lock);
        if (weft_definitions_append(&frame)) {
            id = ++stack_count;
            stacks[slot].hash = hash;
            atomic_store_explicit(&stacks[slot].id, id, memory_order_release);
        }
    }
    pthread_mutex_unlock(&mutex);
    weft_bytes_free(&frame);
    return id;
}

uint32_t weft_stacks_resolved(JNIEnv *env, int depth) {
    return weft_stacks_of(env, NULL, depth);
}

uint32_t weft_stacks_of(JNIEnv *env, jthread thread, int depth) {
    jvmtiFrameInfo raw[WEFT_MAX_DEPTH + 1];
    jint count = 0;
    // One more frame than requested shows whether the stack is truncated.
    if (depth <= 0 ||
        (*weft_jvm.ti)->GetStackTrace(weft_jvm.ti, thread, 0, depth + 1, raw, &count) !=
            JVMTI_ERROR_NONE) {
        return 0;
    }
    return weft_stacks_of_frames(env, raw, count, depth);
}

uint32_t weft_stacks_of_frames(JNIEnv *env, const jvmtiFrameInfo *raw, jint count, int depth) {
    struct weft_frame frames[WEFT_MAX_DEPTH];
    bool truncated = count > depth;
    if (truncated) {
        count = depth;
    }
    if (count == 0) {
        return 0;
    }
    uint64_t hash = hash_frames(raw, count, truncated);
    uint32_t slot;
    uint32_t id = find(hash, &slot);
    if (id != 0 || slot == STACK_SLOTS) {
        return id;
    }
    for (jint i = 0; i < count; i++) {
        frames[i].method = weft_methods_id(env, raw[i].method);
        frames[i].bci = (int32_t)raw[i].location;
        if (frames[i].method == 0) {
            return 0;
        }
    }
    char name[WEFT_RECEIVER_MAX];
    const struct weft_named_lock lock = weft_lock_names_find(env, raw, count, name);
    return define(hash, frames, (uint16_t)count, truncated ? WEFT_STACK_TRUNCATED : 0, &lock);
}

void weft_stacks_init(JNIEnv *env, jthread thread) {
    bool ok = weft_walk_init(env, thread);
    atomic_store(&known.usable, ok);
    if (!ok) {
        weft_notices_raise(WEFT_NOTICE_NO_STACKS);
    }
}

bool weft_stacks_recognized(void) {
    return atomic_load(&known.mismatches) < MAX_MISMATCHES;
}

// Looks up a fingerprint and the slot of its set to use.
static uint64_t recall(uint64_t print, _Atomic uint64_t **slot) {
    uint64_t tag = print & ~ID_MASK;
    _Atomic uint64_t *set = known.slots[print % KNOWN_SETS];
    *slot = &set[print / KNOWN_SETS % KNOWN_WAYS];
    for (int i = 0; i < KNOWN_WAYS; i++) {
        uint64_t value = atomic_load_explicit(&set[i], memory_order_relaxed);
        if ((value & ~ID_MASK) == tag && value != 0) {
            *slot = &set[i];
            return value & ID_MASK;
        }
        if (value == 0) {
            *slot = &set[i];
        }
    }
    return 0;
}

// Whether to verify: each fingerprint at its first return for the first few thousand, later one in
// thousands.
static bool doubt(uint64_t id) {
    static __thread unsigned since;
    if (++since % DOUBT_EACH == 0) {
        return true;
    }
    return (id & SEEN_TWICE) == 0 && atomic_load_explicit(&first_checks, memory_order_relaxed) > 0;
}

uint32_t weft_stacks_id(JNIEnv *env, int depth, bool plain) {
    if (depth <= 0) {
        return 0;
    }
    if (!plain || !atomic_load_explicit(&known.usable, memory_order_relaxed)) {
        return weft_stacks_resolved(env, depth);
    }
    uint64_t print = weft_walk(env, depth + 1);
    if (print == 0) {
        return weft_stacks_resolved(env, depth);
    }
    // Methods of a new class may take the place of an unloaded one, but not before their code runs:
    // each new class changes all fingerprints.
    uint64_t classes = atomic_load_explicit(&weft_jvm.classes, memory_order_relaxed);
    print ^= (classes * 0x9E3779B97F4A7C15U) ^ (uint64_t)depth << 40;
    _Atomic uint64_t *slot;
    uint64_t id = recall(print, &slot);
    if (id != 0 && !doubt(id)) {
        return (uint32_t)(id & ~SEEN_TWICE);
    }
    uint32_t truth = weft_stacks_resolved(env, depth);
    if (id != 0) {
        if ((id & SEEN_TWICE) == 0) {
            atomic_fetch_sub_explicit(&first_checks, 1, memory_order_relaxed);
        }
        if ((id & ~SEEN_TWICE) != truth &&
            atomic_fetch_add(&known.mismatches, 1) + 1 >= MAX_MISMATCHES) {
            atomic_store(&known.usable, false);
            weft_notices_raise(WEFT_NOTICE_WRONG_STACKS);
        }
    }
    if (truth != 0) {
        uint64_t value = (print & ~ID_MASK) | truth | (id == 0 ? 0 : SEEN_TWICE);
        atomic_store_explicit(slot, value, memory_order_relaxed);
    }
    return truth;
}
