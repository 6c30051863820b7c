// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/class_objects.h"

#include <stdatomic.h>
#include <stddef.h>

enum { SLOTS = 1 << 11, LIMIT = SLOTS / 2 };

// Open addressing; an entry is complete once its id is not 0, and then immutable.
static struct {
    _Atomic uint32_t id;
    uint32_t hash;
    jweak object;
} known[SLOTS];

static _Atomic uint32_t count;

// An object, or NULL if the hash is enough.
static uint32_t find(JNIEnv *env, jclass object, uint32_t hash) {
    for (uint32_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        uint32_t id = atomic_load_explicit(&known[at].id, memory_order_acquire);
        if (id == 0 || (known[at].hash == hash &&
                        (object == NULL || (*env)->IsSameObject(env, known[at].object, object)))) {
            return id;
        }
    }
}

uint32_t weft_class_objects_find(JNIEnv *env, jclass object, uint32_t hash) {
    return find(env, object, hash);
}

uint32_t weft_class_objects_find_hash(uint32_t hash) {
    return find(NULL, NULL, hash);
}

bool weft_class_objects_have_room(void) {
    return atomic_load_explicit(&count, memory_order_relaxed) < LIMIT;
}

bool weft_class_objects_add(jweak object, uint32_t hash, uint32_t id) {
    uint32_t at = hash % SLOTS;
    if (!weft_class_objects_have_room()) {
        return false;
    }
    while (atomic_load_explicit(&known[at].id, memory_order_relaxed) != 0) {
        at = (at + 1) % SLOTS;
    }
    known[at].hash = hash;
    known[at].object = object;
    atomic_store_explicit(&known[at].id, id, memory_order_release);
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return true;
}
