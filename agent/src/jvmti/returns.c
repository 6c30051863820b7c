// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/returns.h"

#include "hotspot/by_id.h"

enum { SLOTS = 1 << 14 };

static _Atomic uint64_t threads[SLOTS];
static struct {
    uint32_t hash;
    uint32_t class_id;
    uint16_t kind;
    uint64_t peer;
} returns[SLOTS];

static atomic_int noted; // threads

void weft_returns_note(uint64_t id, const struct weft_record *returned) {
    int at = weft_by_id_enter(threads, SLOTS, id);
    if (at != WEFT_BY_ID_NONE) {
        atomic_fetch_add(&noted, 1);
        returns[at].hash = returned->hash;
        returns[at].class_id = returned->class_id;
        returns[at].kind = returned->kind;
        returns[at].peer = returned->peer;
    }
}

bool weft_returns_take(uint64_t id, struct weft_record *returned) {
    int at = atomic_load_explicit(&noted, memory_order_relaxed) == 0
                 ? WEFT_BY_ID_NONE
                 : weft_by_id_find(threads, SLOTS, id);
    if (at == WEFT_BY_ID_NONE) {
        return false;
    }
    returned->kind = returns[at].kind;
    returned->hash = returns[at].hash;
    returned->class_id = returns[at].class_id;
    returned->peer = returns[at].peer;
    bool valid = weft_by_id_remove(threads, at) == (weft_by_id_era() | id);
    atomic_fetch_sub(&noted, 1);
    return valid;
}
