// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the program is a thread? See stacks.h.

#include "stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "definitions.h"
#include "identity.h"
#include "jvm.h"
#include "wire.h"

// Open addressing by a 64-bit hash of the frames; an entry is complete once its id is not 0.
enum { STACK_SLOTS = 1 << 16, MAX_PROBES = 64 };

static struct {
    _Atomic uint32_t id;
    uint64_t hash;
} stacks[STACK_SLOTS];

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
                       uint16_t flags) {
    uint32_t slot;
    struct weft_bytes frame = {0};
    pthread_mutex_lock(&mutex);
    uint32_t id = find(hash, &slot);
    if (id == 0 && slot != STACK_SLOTS && stack_count < STACK_SLOTS / 4 * 3) {
        weft_put_stack(&frame, stack_count + 1, flags, frames, count);
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

uint32_t weft_stack_id(JNIEnv *env, int depth) {
    jvmtiFrameInfo raw[WEFT_MAX_DEPTH + 1];
    struct weft_frame frames[WEFT_MAX_DEPTH];
    jint count = 0;
    // One frame more than wanted tells whether there are more.
    if (depth <= 0 || (*weft_jvm.ti)->GetStackTrace(weft_jvm.ti, NULL, 0, depth + 1, raw, &count) !=
                          JVMTI_ERROR_NONE) {
        return 0;
    }
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
        frames[i].method = weft_method_id(env, raw[i].method);
        frames[i].bci = (int32_t)raw[i].location;
        if (frames[i].method == 0) {
            return 0;
        }
    }
    return define(hash, frames, (uint16_t)count, truncated ? WEFT_STACK_TRUNCATED : 0);
}
