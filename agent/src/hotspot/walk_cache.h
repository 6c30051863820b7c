// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is all that a walk looked at as it was? A thread that comes back to where it was before finds the
// same words at the same places of its stack, and the same code. To compare them takes a fraction
// of a walk, since nothing has to be worked out, and proves that the walk would end the same.

#ifndef WEFT_WALK_CACHE_H
#define WEFT_WALK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/code_cache.h"

enum { WEFT_WALK_CACHE_WORDS = 80, WEFT_WALK_CACHE_BLOBS = 24 };

struct weft_cached_walk {
    uint64_t print; // what came out; 0: nothing can be compared
    unsigned words;
    unsigned blobs;
    struct {
        uintptr_t at;
        uintptr_t value;
    } word[WEFT_WALK_CACHE_WORDS];
    struct weft_code_blob blob[WEFT_WALK_CACHE_BLOBS];
};

// For a walk of the current thread that begins at a stack pointer and a place in the code, and
// passes so many frames: returns what came out the last time, if it would again. Otherwise 0, and
// the trail that the walk is to fill; NULL if it need not.
uint64_t weft_walk_cache_find(uintptr_t sp, uintptr_t pc, int count,
                              struct weft_cached_walk **trail);

// The walk used what lies at an address.
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

// The walk is done. Keeps the trail if it had room for all.
static inline void weft_walk_cache_end(struct weft_cached_walk *t, uint64_t print) {
    if (t != NULL && t->words <= WEFT_WALK_CACHE_WORDS && t->blobs <= WEFT_WALK_CACHE_BLOBS) {
        t->print = print;
    }
}

// The current thread ends: gives its memory back.
void weft_walk_cache_free(void);

#endif
