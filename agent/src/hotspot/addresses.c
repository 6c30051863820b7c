// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/addresses.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Structures are keyed by address; stacks by the megabytes of the address space they occupy. Both
// share a hash table with striped locks.
enum { BUCKETS = 4096, STRIPES = 64, GRANULE = 20, MAX_GRANULES = 80 };

struct node {
    struct node *next;
    uintptr_t key;
    uintptr_t low; // the range of addresses
    uintptr_t high;
    uint64_t thread;
};

static struct node *buckets[BUCKETS];
static pthread_mutex_t stripes[STRIPES];
static bool enabled;
static ptrdiff_t offset;

// Incremented after each change. A thread's last result is valid until then.
static _Atomic uint64_t changes;
static __thread struct {
    uint64_t changes;
    uintptr_t address; // 0: none
    uint64_t thread;
} last;

// The current thread's range, for its removal.
static __thread uintptr_t own_structure;
static __thread uintptr_t own_low;
static __thread uintptr_t own_high;

void weft_addresses_enable(ptrdiff_t env_offset) {
    for (int i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&stripes[i], NULL);
    }
    offset = env_offset;
    enabled = true;
}

static unsigned bucket_of(uintptr_t key) {
    return (unsigned)((uint64_t)key * 0x9E3779B97F4A7C15ULL >> 52);
}

static void add(uintptr_t key, uintptr_t low, uintptr_t high, uint64_t thread) {
    unsigned at = bucket_of(key);
    struct node *n = malloc(sizeof *n);
    if (n == NULL) {
        return;
    }
    *n = (struct node){.key = key, .low = low, .high = high, .thread = thread};
    pthread_mutex_lock(&stripes[at % STRIPES]);
    n->next = buckets[at];
    buckets[at] = n;
    pthread_mutex_unlock(&stripes[at % STRIPES]);
    atomic_fetch_add(&changes, 1);
}

static void drop(uintptr_t key, uintptr_t low) {
    unsigned at = bucket_of(key);
    pthread_mutex_lock(&stripes[at % STRIPES]);
    struct node **link = &buckets[at];
    while (*link != NULL) {
        struct node *n = *link;
        if (n->key == key && n->low == low) {
            *link = n->next;
            free(n);
        } else {
            link = &n->next;
        }
    }
    pthread_mutex_unlock(&stripes[at % STRIPES]);
    atomic_fetch_add(&changes, 1);
}

static uint64_t find(uintptr_t key, uintptr_t address) {
    unsigned at = bucket_of(key);
    uint64_t thread = 0;
    pthread_mutex_lock(&stripes[at % STRIPES]);
    for (struct node *n = buckets[at]; n != NULL; n = n->next) {
        if (n->key == key && n->low <= address && address < n->high) {
            thread = n->thread;
            break;
        }
    }
    pthread_mutex_unlock(&stripes[at % STRIPES]);
    return thread;
}

void weft_addresses_add_structure(uintptr_t structure, uint64_t thread) {
    if (enabled && structure != 0) {
        drop(structure, structure);
        add(structure, structure, structure + 1, thread);
    }
}

void weft_addresses_add(JNIEnv *env, uint64_t thread) {
    if (!enabled) {
        return;
    }
    own_structure = (uintptr_t)env - (uintptr_t)offset;
    weft_addresses_add_structure(own_structure, thread);
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    if (pthread_attr_getstack(&attributes, &low, &size) == 0 &&
        size >> GRANULE < MAX_GRANULES) { // owners with larger stacks are found in other ways
        own_low = (uintptr_t)low;
        own_high = own_low + size;
        for (uintptr_t g = own_low >> GRANULE; g <= (own_high - 1) >> GRANULE; g++) {
            add(g, own_low, own_high, thread);
        }
    }
    pthread_attr_destroy(&attributes);
}

void weft_addresses_remove(void) {
    if (own_structure != 0) {
        drop(own_structure, own_structure);
    }
    if (own_high != 0) {
        for (uintptr_t g = own_low >> GRANULE; g <= (own_high - 1) >> GRANULE; g++) {
            drop(g, own_low);
        }
    }
    own_structure = own_low = own_high = 0;
}

void weft_addresses_gone(JNIEnv *env) {
    weft_addresses_remove();
    if (enabled) {
        uintptr_t structure = (uintptr_t)env - (uintptr_t)offset;
        drop(structure, structure);
    }
}

uint64_t weft_addresses_find(uintptr_t address) {
    uint64_t before = atomic_load(&changes);
    if (last.address == address && last.changes == before) {
        return last.thread;
    }
    uint64_t thread = find(address, address);
    if (thread == 0) {
        thread = find(address >> GRANULE, address);
    }
    last.changes = before;
    last.address = address;
    last.thread = thread;
    return thread;
}
