// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/pool.h"

#include <sys/mman.h>

static struct {
    struct weft_chunk *chunks;
    uint32_t count;
    _Atomic uint32_t fresh; // chunks from here on were never handed out
    _Atomic uint64_t free;  // number of the topmost free chunk + 1; above it a change count
    _Atomic uint32_t used;
    void (*_Atomic wake)(void);
} pool;

// The stack of free chunks is linked through base, which is otherwise unused in a free chunk. It is
// atomic because a thread that loses the race for the top may read it while the winner writes it.

bool weft_pool_init(size_t bytes) {
    uint32_t count = (uint32_t)(bytes / WEFT_CHUNK_SIZE);
    void *memory = mmap(NULL, (size_t)count * WEFT_CHUNK_SIZE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    pool.chunks = memory;
    pool.count = count;
    return true;
}

void weft_pool_on_pressure(void (*wake)(void)) {
    atomic_store(&pool.wake, wake);
}

size_t weft_pool_chunks(void) {
    return pool.count;
}

size_t weft_pool_used(void) {
    return atomic_load_explicit(&pool.used, memory_order_relaxed);
}

static struct weft_chunk *pop_free(void) {
    uint64_t top = atomic_load_explicit(&pool.free, memory_order_acquire);
    while ((uint32_t)top != 0) {
        struct weft_chunk *chunk = &pool.chunks[(uint32_t)top - 1];
        uint64_t below = atomic_load_explicit(&chunk->base, memory_order_relaxed);
        uint64_t next = ((top >> 32) + 1) << 32 | (uint32_t)below;
        if (atomic_compare_exchange_weak_explicit(&pool.free, &top, next, memory_order_acquire,
                                                  memory_order_acquire)) {
            return chunk;
        }
    }
    return NULL;
}

struct weft_chunk *weft_pool_take(void) {
    struct weft_chunk *chunk = pop_free();
    if (chunk == NULL) {
        uint32_t fresh = atomic_load_explicit(&pool.fresh, memory_order_relaxed);
        do {
            if (fresh >= pool.count) {
                return NULL;
            }
        } while (!atomic_compare_exchange_weak_explicit(
            &pool.fresh, &fresh, fresh + 1, memory_order_relaxed, memory_order_relaxed));
        chunk = &pool.chunks[fresh];
    }
    uint32_t used = atomic_fetch_add_explicit(&pool.used, 1, memory_order_relaxed) + 1;
    if (used > pool.count / 4) {
        void (*wake)(void) = atomic_load_explicit(&pool.wake, memory_order_relaxed);
        if (wake != NULL) {
            wake();
        }
    }
    return chunk;
}

void weft_pool_give(struct weft_chunk *chunk) {
    uint64_t number = (uint64_t)(chunk - pool.chunks) + 1;
    uint64_t top = atomic_load_explicit(&pool.free, memory_order_relaxed);
    uint64_t next;
    do {
        atomic_store_explicit(&chunk->base, (uint32_t)top, memory_order_relaxed);
        next = ((top >> 32) + 1) << 32 | number;
    } while (!atomic_compare_exchange_weak_explicit(&pool.free, &top, next, memory_order_release,
                                                    memory_order_relaxed));
    atomic_fetch_sub_explicit(&pool.used, 1, memory_order_relaxed);
}
