// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/mounts.h"

#include <pthread.h>
#include <semaphore.h>

// On a cache line of its own, because carriers write often.
struct weft_carrier {
    _Alignas(64) _Atomic uint64_t carrier; // 0: free
    _Atomic uint64_t thread;
    _Atomic int64_t since; // 0: no mount
};

static struct weft_carrier places[WEFT_CARRIERS];
static _Atomic size_t size; // places ever used

static atomic_bool asleep;
static sem_t wakes;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void) {
    sem_init(&wakes, 0, 0);
}

struct weft_carrier *weft_mounts_enter(uint64_t carrier) {
    for (size_t i = 0; i < WEFT_CARRIERS; i++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&places[i].carrier, &none, carrier)) {
            size_t used = atomic_load(&size);
            while (used <= i && !atomic_compare_exchange_weak(&size, &used, i + 1)) {
            }
            return &places[i];
        }
    }
    return NULL;
}

void weft_mounts_leave(struct weft_carrier *place) {
    weft_mounts_clear(place);
    atomic_store(&place->carrier, 0);
}

void weft_mounts_put(struct weft_carrier *place, uint64_t thread, int64_t since) {
    atomic_store_explicit(&place->thread, thread, memory_order_release);
    atomic_store(&place->since, since);
    // Sequentially consistent: either this sees the sleeper, or that one sees the mount.
    if (atomic_load(&asleep) && atomic_exchange(&asleep, false)) {
        sem_post(&wakes);
    }
}

void weft_mounts_clear(struct weft_carrier *place) {
    atomic_store_explicit(&place->since, 0, memory_order_release);
}

size_t weft_mounts_size(void) {
    return atomic_load(&size);
}

bool weft_mounts_look(size_t place, struct weft_mount *mount) {
    struct weft_carrier *at = &places[place];
    mount->since = atomic_load(&at->since);
    mount->thread = atomic_load(&at->thread);
    mount->carrier = atomic_load(&at->carrier);
    return mount->since != 0 && weft_mounts_still(place, mount);
}

bool weft_mounts_still(size_t place, const struct weft_mount *mount) {
    return atomic_load(&places[place].since) == mount->since &&
           atomic_load(&places[place].carrier) == mount->carrier;
}

static bool is_any(int64_t from) {
    for (size_t i = 0; i < weft_mounts_size(); i++) {
        if (atomic_load(&places[i].since) >= from) {
            return true;
        }
    }
    return false;
}

void weft_mounts_await(int64_t from, const atomic_bool *stop) {
    pthread_once(&once, init);
    atomic_store(&asleep, true);
    if (!atomic_load(stop) && !is_any(from)) {
        sem_wait(&wakes); // a wake too many does no harm
    }
    atomic_store(&asleep, false);
}

void weft_mounts_wake(void) {
    pthread_once(&once, init);
    sem_post(&wakes);
}
