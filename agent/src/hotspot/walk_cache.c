// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/walk_cache.h"

#include <stddef.h>
#include <stdlib.h>

#include "hotspot/words.h"

// Places kept per thread; the first visit of a place is not cached.
enum { PLACES = 4 };

static __thread struct place {
    uintptr_t sp;
    uintptr_t pc;
    int count;
    struct weft_cached_walk *trail;
} places[PLACES];

static bool is_as_it_was(const struct weft_cached_walk *t) {
    for (unsigned i = 0; i < t->words; i++) {
        if (word_at(t->word[i].at) != t->word[i].value) {
            return false;
        }
    }
    return weft_code_cache_has(t->blob, t->blobs);
}

uint64_t weft_walk_cache_find(uintptr_t sp, uintptr_t pc, int count,
                              struct weft_cached_walk **trail) {
    struct place *p = &places[(sp >> 4 ^ sp >> 9 ^ pc ^ pc >> 5) % PLACES];
    *trail = NULL;
    if (p->sp != sp || p->pc != pc || p->count != count) {
        p->sp = sp;
        p->pc = pc;
        p->count = count;
        if (p->trail != NULL) {
            p->trail->print = 0;
        }
        return 0;
    }
    if (p->trail == NULL) {
        p->trail = calloc(1, sizeof *p->trail);
    } else if (p->trail->print != 0 && is_as_it_was(p->trail)) {
        return p->trail->print;
    }
    *trail = p->trail;
    if (*trail != NULL) {
        (*trail)->print = 0;
        (*trail)->words = (*trail)->blobs = 0;
    }
    return 0;
}

void weft_walk_cache_free(void) {
    for (int i = 0; i < PLACES; i++) {
        free(places[i].trail);
        places[i] = (struct place){0};
    }
}
