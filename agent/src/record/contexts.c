// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/contexts.h"

#include <stddef.h>

// The table has buckets of one cache line each. A thread whose bucket is full is in one of the
// next.
enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS, BUCKET_ROOM = 8, PROBES = 8 };
enum { INDEX_BITS = 17 };

// How often a reader tries again while the thread changes its context.
enum { TRIES = 100 };

static const uint64_t INDEX_MASK = (UINT64_C(1) << INDEX_BITS) - 1;

atomic_bool weft_contexts_used;

static _Alignas(64) struct weft_context contexts[WEFT_CONTEXTS];
static atomic_uint fresh;       // contexts that were in use once
static _Atomic uint64_t unused; // the first unused one: its index + 1; above, a number of changes
static _Alignas(64) _Atomic uint64_t table[BUCKETS][BUCKET_ROOM]; // thread id, then index + 1
static atomic_uint strays; // threads that are not in their own bucket

static struct weft_context *at(uint64_t entry) {
    return &contexts[(entry & INDEX_MASK) - 1];
}

static uint64_t entry_of(uint64_t thread, const struct weft_context *c) {
    return thread << INDEX_BITS | (uint64_t)(c - contexts + 1);
}

// Spreads ids with any step between them: often it is one of several new threads that has a span.
static size_t bucket_of(uint64_t thread) {
    static const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = thread * factor;
    return (size_t)((hash ^ hash >> 32) * factor >> (64 - BUCKET_BITS));
}

static struct weft_context *pop(void) {
    uint64_t top = atomic_load_explicit(&unused, memory_order_acquire);
    while ((uint32_t)top != 0) {
        struct weft_context *c = &contexts[(uint32_t)top - 1];
        uint64_t next =
            ((top >> 32) + 1) << 32 | atomic_load_explicit(&c->next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&unused, &top, next, memory_order_acquire,
                                                  memory_order_acquire)) {
            return c;
        }
    }
    unsigned index = atomic_load_explicit(&fresh, memory_order_relaxed);
    while (index < WEFT_CONTEXTS) {
        if (atomic_compare_exchange_weak(&fresh, &index, index + 1)) {
            return &contexts[index];
        }
    }
    return NULL;
}

static void push(struct weft_context *c) {
    uint64_t top = atomic_load_explicit(&unused, memory_order_relaxed);
    uint64_t next;
    do {
        atomic_store_explicit(&c->next, (uint32_t)top, memory_order_relaxed);
        next = ((top >> 32) + 1) << 32 | (uint64_t)(c - contexts + 1);
    } while (!atomic_compare_exchange_weak_explicit(&unused, &top, next, memory_order_release,
                                                    memory_order_relaxed));
}

static void begin_change(struct weft_context *c) {
    uint32_t version = atomic_load_explicit(&c->version, memory_order_relaxed);
    atomic_store_explicit(&c->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(struct weft_context *c) {
    uint32_t version = atomic_load_explicit(&c->version, memory_order_relaxed);
    atomic_store_explicit(&c->version, version + 1, memory_order_release);
}

static void put(struct weft_context *c, uint64_t thread, const struct weft_span *span,
                bool published) {
    begin_change(c);
    atomic_store_explicit(&c->thread, thread, memory_order_relaxed);
    atomic_store_explicit(&c->trace_high, span->trace_high, memory_order_relaxed);
    atomic_store_explicit(&c->trace_low, span->trace_low, memory_order_relaxed);
    atomic_store_explicit(&c->span, span->id, memory_order_relaxed);
    atomic_store_explicit(&c->sent, 0, memory_order_relaxed);
    atomic_store_explicit(&c->noted, false, memory_order_relaxed);
    atomic_store_explicit(&c->published, published, memory_order_relaxed);
    end_change(c);
}

// Replaces an entry of a bucket, 0 for an empty one.
static bool replace(size_t bucket, uint64_t entry, uint64_t by) {
    for (size_t i = 0; i < BUCKET_ROOM; i++) {
        uint64_t old = entry;
        if (atomic_load_explicit(&table[bucket][i], memory_order_relaxed) == entry &&
            atomic_compare_exchange_strong_explicit(&table[bucket][i], &old, by,
                                                    memory_order_release, memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

// Another thread that does not see the first stray yet finds no span.
static bool add(uint64_t thread, uint64_t entry) {
    size_t bucket = bucket_of(thread);
    bool added = replace(bucket, 0, entry);
    if (!added) {
        atomic_fetch_add_explicit(&strays, 1, memory_order_relaxed);
        for (size_t i = 1; i < PROBES && !added; i++) {
            added = replace((bucket + i) % BUCKETS, 0, entry);
        }
        if (!added) {
            atomic_fetch_sub_explicit(&strays, 1, memory_order_relaxed);
        }
    }
    return added;
}

static void take_out(uint64_t thread, uint64_t entry) {
    size_t bucket = bucket_of(thread);
    bool found = replace(bucket, entry, 0);
    for (size_t i = 1; i < PROBES && !found; i++) {
        found = replace((bucket + i) % BUCKETS, entry, 0);
        if (found) {
            atomic_fetch_sub_explicit(&strays, 1, memory_order_relaxed);
        }
    }
}

// The entry of a thread in a bucket; 0: none.
static uint64_t look_up(uint64_t thread, size_t bucket) {
    for (size_t i = 0; i < BUCKET_ROOM; i++) {
        uint64_t entry = atomic_load_explicit(&table[bucket][i], memory_order_acquire);
        if (entry >> INDEX_BITS == thread && entry != 0) {
            return entry;
        }
    }
    return 0;
}

struct weft_context *weft_contexts_take(uint64_t thread) {
    struct weft_context *c = pop();
    if (c == NULL) {
        return NULL;
    }
    if (!atomic_load_explicit(&weft_contexts_used, memory_order_relaxed)) {
        atomic_store(&weft_contexts_used, true);
    }
    c->has_waited = false;
    c->since = 0;
    put(c, thread, &(struct weft_span){0}, false);
    if (add(thread, entry_of(thread, c))) {
        return c;
    }
    put(c, 0, &(struct weft_span){0}, false);
    push(c);
    return NULL;
}

void weft_contexts_give(struct weft_context *c) {
    uint64_t thread = atomic_load_explicit(&c->thread, memory_order_relaxed);
    take_out(thread, entry_of(thread, c));
    put(c, 0, &(struct weft_span){0}, false);
    push(c);
}

struct weft_context *weft_contexts_find(uint64_t thread) {
    size_t bucket = bucket_of(thread);
    uint64_t entry = look_up(thread, bucket);
    if (entry == 0 && atomic_load_explicit(&strays, memory_order_relaxed) != 0) {
        for (size_t i = 1; i < PROBES && entry == 0; i++) {
            entry = look_up(thread, (bucket + i) % BUCKETS);
        }
    }
    return entry == 0 ? NULL : at(entry);
}

struct weft_span weft_contexts_span(const struct weft_context *c) {
    return (struct weft_span){atomic_load_explicit(&c->trace_high, memory_order_relaxed),
                              atomic_load_explicit(&c->trace_low, memory_order_relaxed),
                              atomic_load_explicit(&c->span, memory_order_relaxed)};
}

void weft_contexts_set(struct weft_context *c, const struct weft_span *span) {
    put(c, atomic_load_explicit(&c->thread, memory_order_relaxed), span, false);
}

void weft_contexts_set_published(struct weft_context *c, const struct weft_span *span) {
    put(c, atomic_load_explicit(&c->thread, memory_order_relaxed), span, true);
}

void weft_contexts_mark_sent(struct weft_context *c, uint32_t epoch, int64_t at_time) {
    begin_change(c);
    atomic_store_explicit(&c->sent, epoch, memory_order_relaxed);
    atomic_store_explicit(&c->sent_at, at_time, memory_order_relaxed);
    end_change(c);
}

bool weft_contexts_unsent(uint64_t thread, uint32_t epoch, int64_t before, struct weft_span *span) {
    struct weft_context *c = weft_contexts_find(thread);
    for (int i = 0; c != NULL && i < TRIES; i++) {
        uint32_t version = atomic_load_explicit(&c->version, memory_order_acquire);
        bool same = atomic_load_explicit(&c->thread, memory_order_relaxed) == thread;
        same = same && !atomic_load_explicit(&c->published, memory_order_relaxed);
        *span = weft_contexts_span(c);
        uint32_t sent = atomic_load_explicit(&c->sent, memory_order_relaxed);
        int64_t sent_at = atomic_load_explicit(&c->sent_at, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (version % 2 == 0 &&
            atomic_load_explicit(&c->version, memory_order_relaxed) == version) {
            bool unsent =
                same && !weft_contexts_is_none(span) && (sent != epoch || sent_at >= before);
            if (unsent && !atomic_load_explicit(&c->noted, memory_order_relaxed)) {
                // If it has changed just now, its next change is reported without need.
                atomic_store_explicit(&c->noted, true, memory_order_relaxed);
            }
            return unsent;
        }
    }
    return false;
}
