// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/request_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record/identity.h"
#include "wire/names.h"

// Open addressing, at most half full; entries are immutable.
enum { SLOTS = 2 * WEFT_REQUEST_NAMES };

struct name {
    uint32_t id;
    char text[];
};

static _Atomic(struct name *) names[SLOTS];
static unsigned count; // guarded by the mutex
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned hash_of(const char *text) {
    uint32_t hash = 2166136261U; // FNV-1a
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619U;
    }
    return hash % SLOTS;
}

// Returns the name, or NULL and the slot where the search ended.
static const struct name *find(const char *text, unsigned *slot) {
    for (*slot = hash_of(text);; *slot = (*slot + 1) % SLOTS) {
        const struct name *n = atomic_load_explicit(&names[*slot], memory_order_acquire);
        if (n == NULL || strcmp(n->text, text) == 0) {
            return n;
        }
    }
}

// The caller holds the mutex.
static uint32_t add(const char *text, unsigned slot) {
    size_t size = strlen(text) + 1;
    struct name *n = count < WEFT_REQUEST_NAMES ? malloc(sizeof *n + size) : NULL;
    if (n == NULL) {
        return 0;
    }
    memcpy(n->text, text, size);
    n->id = weft_identity_define(text);
    count++;
    uint32_t id = n->id;
    atomic_store_explicit(&names[slot], n, memory_order_release);
    return id;
}

uint32_t weft_request_names_id(char *name) {
    unsigned slot;
    weft_names_utf8(name);
    const struct name *known = find(name, &slot);
    if (known != NULL) {
        return known->id;
    }
    pthread_mutex_lock(&mutex);
    known = find(name, &slot); // another thread may have been faster
    uint32_t id = known != NULL ? known->id : add(name, slot);
    pthread_mutex_unlock(&mutex);
    return id;
}
