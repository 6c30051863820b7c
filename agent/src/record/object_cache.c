// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/object_cache.h"

#include <stddef.h>
#include <stdint.h>

#include "hotspot/jvm.h"

// Every eighth lookup compares the hash; if it repeats, a reference is created. Four misses in a
// row release it. This keeps the cost of references low.
enum { LOOK_EACH = 8, MAX_MISSES = 4 };

struct kept {
    jweak object; // NULL: none
    uint32_t hash;
    uint32_t class_id;
    uint8_t times; // lookups since the last comparison
    uint8_t misses;
};

enum place { ENTER, WAIT, NOTIFY, PARK, PLACES };

static __thread struct kept kept[PLACES];

static struct kept *place_of(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_CONTENDED_ENTER:
        return &kept[ENTER];
    case WEFT_EV_WAIT:
        return &kept[WAIT];
    case WEFT_EV_NOTIFY:
    case WEFT_EV_NOTIFY_ALL:
        return &kept[NOTIFY];
    case WEFT_EV_PARK:
        return &kept[PARK];
    default:
        return NULL;
    }
}

static void give_back(JNIEnv *env, struct kept *k) {
    if (k->object != NULL) {
        (*env)->DeleteWeakGlobalRef(env, k->object);
    }
    *k = (struct kept){0};
}

bool weft_object_cache_find(JNIEnv *env, jobject object, struct weft_record *record) {
    struct kept *k = place_of(record->kind);
    if (k == NULL || k->object == NULL) {
        return false;
    }
    if ((*env)->IsSameObject(env, k->object, object)) {
        k->misses = 0;
        record->hash = k->hash;
        record->class_id = k->class_id;
        return true;
    }
    if (++k->misses == MAX_MISSES) {
        give_back(env, k);
    }
    return false;
}

bool weft_object_cache_due(uint16_t kind) {
    struct kept *k = place_of(kind);
    return k != NULL && k->object == NULL && ++k->times % LOOK_EACH == 0;
}

void weft_object_cache_note(JNIEnv *env, jobject object, uint16_t kind, uint32_t hash,
                            uint32_t class_id) {
    struct kept *k = place_of(kind);
    bool again = hash == k->hash && class_id == k->class_id;
    k->hash = hash;
    k->class_id = class_id;
    if (again && hash != 0 && class_id != 0) {
        k->object = (*env)->NewWeakGlobalRef(env, object);
        weft_jvm_clear_exception(env);
        k->misses = 0;
    }
}

void weft_object_cache_free(JNIEnv *env) {
    for (int i = 0; i < PLACES; i++) {
        give_back(env, &kept[i]);
    }
}
