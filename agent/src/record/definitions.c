// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536, MAX_BLOCKS = 16384 };

static struct {
    pthread_mutex_t mutex; // among the appending threads
    size_t limit;
    atomic_bool full;
    _Atomic uint64_t end;
    uint8_t *_Atomic blocks[MAX_BLOCKS];
} defined = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void weft_definitions_init(size_t limit) {
    size_t most = (size_t)MAX_BLOCKS * BLOCK;
    pthread_mutex_lock(&defined.mutex);
    defined.limit = limit < most ? limit : most;
    atomic_store_explicit(&defined.full, false, memory_order_relaxed);
    pthread_mutex_unlock(&defined.mutex);
}

static bool append(const uint8_t *data, size_t len) {
    uint64_t end = atomic_load_explicit(&defined.end, memory_order_relaxed);
    if (end + len > defined.limit) {
        atomic_store_explicit(&defined.full, true, memory_order_relaxed);
        return false;
    }
    for (uint64_t at = end / BLOCK; at * BLOCK < end + len; at++) {
        if (atomic_load_explicit(&defined.blocks[at], memory_order_relaxed) == NULL) {
            uint8_t *block = malloc(BLOCK);
            if (block == NULL) {
                return false;
            }
            atomic_store_explicit(&defined.blocks[at], block, memory_order_relaxed);
        }
    }
    while (len > 0) {
        size_t offset = (size_t)(end % BLOCK);
        size_t part = BLOCK - offset < len ? BLOCK - offset : len;
        uint8_t *block = atomic_load_explicit(&defined.blocks[end / BLOCK], memory_order_relaxed);
        memcpy(block + offset, data, part);
        data += part;
        len -= part;
        end += part;
    }
    atomic_store_explicit(&defined.end, end, memory_order_release);
    return true;
}

bool weft_definitions_append(const struct weft_bytes *frames) {
    if (frames->failed) {
        return false;
    }
    pthread_mutex_lock(&defined.mutex);
    bool ok = append(frames->data, frames->len);
    pthread_mutex_unlock(&defined.mutex);
    return ok;
}

bool weft_definitions_full(void) {
    return atomic_load_explicit(&defined.full, memory_order_relaxed);
}

uint64_t weft_definitions_end(void) {
    return atomic_load_explicit(&defined.end, memory_order_acquire);
}

const uint8_t *weft_definitions_read(uint64_t from, uint64_t end, size_t *len) {
    size_t offset = (size_t)(from % BLOCK);
    size_t part = BLOCK - offset;
    *len = end - from < part ? (size_t)(end - from) : part;
    return atomic_load_explicit(&defined.blocks[from / BLOCK], memory_order_relaxed) + offset;
}
