// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Caches walks of the current thread. A thread that returns to a place finds the same words at the
// same addresses of its stack, and the same code. Comparing them costs a fraction of a walk and
// proves that the walk would give the same result.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/code_cache.h"

enum { WEFT_WALK_CACHE_WORDS = 176, WEFT_WALK_CACHE_BLOBS = 40 };

struct weft_cached_walk {
    uint64_t print; // the result; 0: nothing to compare
    unsigned words;
    unsigned blobs;
    struct {
        uintptr_t at;
        uintptr_t value;
    } word[WEFT_WALK_CACHE_WORDS];
    struct weft_code_blob blob[WEFT_WALK_CACHE_BLOBS];
};

// For a walk over count frames from a stack pointer and pc: returns the cached result if it is
// still valid. Otherwise returns 0 and the record that the walk is to fill, NULL if it need not.
uint64_t weft_walk_cache_find(uintptr_t sp, uintptr_t pc, int count,
                              struct weft_cached_walk **trail);

// Adds a word that the walk used.
static inline void weft_walk_cache_add_word(struct weft_cached_walk *t, uintptr_t at,
                                            uintptr_t value) {
    if (t != NULL && t->words < WEFT_WALK_CACHE_WORDS) {
        t->word[t->words].at = at;
        t->word[t->words].value = value;
    }
    if (t != NULL) {
        t->words++;
    }
}

static inline void weft_walk_cache_add_blob(struct weft_cached_walk *t,
                                            const struct weft_code_blob *b) {
    if (t != NULL && t->blobs < WEFT_WALK_CACHE_BLOBS) {
        t->blob[t->blobs] = *b;
    }
    if (t != NULL) {
        t->blobs++;
    }
}

// Completes the record; keeps it if everything fit.
static inline void weft_walk_cache_end(struct weft_cached_walk *t, uint64_t print) {
    if (t != NULL && t->words <= WEFT_WALK_CACHE_WORDS && t->blobs <= WEFT_WALK_CACHE_BLOBS) {
        t->print = print;
    }
}

// Frees the cache when the current thread ends.
void weft_walk_cache_free(void);
