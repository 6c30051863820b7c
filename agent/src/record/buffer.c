// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/buffer.h"

#include <stdlib.h>

// Marks the tail slot while its thread is between begin and end.
static struct weft_chunk busy_mark;

static _Atomic(struct weft_buffer *) new_buffers;
static atomic_int new_count;
static _Atomic uint64_t unbuffered_loss;

// Adds a list that ends with last.
static void add_new(struct weft_buffer *b, struct weft_buffer *last) {
    struct weft_buffer *top = atomic_load(&new_buffers);
    do {
        last->registered = top;
    } while (!atomic_compare_exchange_weak(&new_buffers, &top, b));
}

void weft_buffer_give_back(struct weft_buffer *b) {
    struct weft_buffer *last = b;
    atomic_fetch_add(&new_count, 1);
    while (last->registered != NULL) {
        last = last->registered;
        atomic_fetch_add(&new_count, 1);
    }
    add_new(b, last);
}

struct weft_buffer *weft_buffer_open(uint64_t thread) {
    if (atomic_load(&new_count) >= WEFT_NEW_BUFFERS) {
        return NULL;
    }
    struct weft_buffer *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    atomic_fetch_add(&new_count, 1);
    pthread_mutex_init(&b->loss_mutex, NULL);
    b->thread = thread;
    add_new(b, b);
    return b;
}

void weft_buffer_close(struct weft_buffer *b) {
    atomic_store_explicit(&b->closed, true, memory_order_release);
}

void weft_buffer_lose_unbuffered(uint64_t count) {
    atomic_fetch_add(&unbuffered_loss, count);
}

bool weft_buffer_lost_unbuffered(void) {
    return atomic_load(&unbuffered_loss) != 0;
}

uint64_t weft_buffer_take_unbuffered_loss(void) {
    return atomic_exchange(&unbuffered_loss, 0);
}

void weft_buffer_begin(struct weft_buffer *b) {
    if (b->depth++ == 0) {
        // Sequentially consistent: the clock is read after the mark is visible.
        b->current = atomic_exchange(&b->tail, &busy_mark);
    }
}

void weft_buffer_end(struct weft_buffer *b) {
    if (--b->depth == 0) {
        atomic_store_explicit(&b->tail, b->current, memory_order_release);
    }
}

static void put_one(struct weft_buffer *b, const struct weft_record *record, uint64_t position) {
    struct weft_chunk *c = b->current;
    c->records[position - atomic_load_explicit(&c->base, memory_order_relaxed)] = *record;
}

// Makes room for at most two records. False if the pool is exhausted.
static bool make_room(struct weft_buffer *b, uint64_t position, size_t count) {
    struct weft_chunk *c = b->current;
    if (c != NULL) {
        uint64_t used = position - atomic_load_explicit(&c->base, memory_order_relaxed);
        if (used + count <= WEFT_CHUNK_RECORDS) {
            return true;
        }
    }
    struct weft_chunk *fresh = weft_pool_take();
    if (fresh == NULL) {
        return false;
    }
    atomic_store_explicit(&fresh->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&fresh->base, position, memory_order_relaxed);
    if (c == NULL) {
        atomic_store_explicit(&b->first, fresh, memory_order_release);
    } else {
        atomic_store_explicit(&c->next, fresh, memory_order_release);
    }
    b->current = fresh;
    return true;
}

static void lose(struct weft_buffer *b, uint64_t position, const struct weft_record *record) {
    pthread_mutex_lock(&b->loss_mutex);
    uint64_t lost = atomic_load_explicit(&b->lost, memory_order_relaxed);
    if (lost == 0) {
        b->lost_at = position;
        b->lost_since = record->time;
        b->lost_events = 0;
    }
    b->lost_events += record->kind == WEFT_EV_GAP ? (uint64_t)record->arg : 1;
    atomic_store_explicit(&b->lost, lost + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->gapped, 1, memory_order_relaxed);
    pthread_mutex_unlock(&b->loss_mutex);
}

static bool take_loss(struct weft_buffer *b, uint64_t position, struct weft_record *gap) {
    pthread_mutex_lock(&b->loss_mutex);
    uint64_t lost = atomic_load_explicit(&b->lost, memory_order_relaxed);
    bool here = lost != 0 && b->lost_at == position;
    if (here) {
        *gap = (struct weft_record){
            .time = b->lost_since, .arg = (int64_t)b->lost_events, .kind = WEFT_EV_GAP};
        atomic_store_explicit(&b->lost, 0, memory_order_relaxed);
        atomic_fetch_add_explicit(&b->gapped, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&b->loss_mutex);
    return here;
}

void weft_buffer_write(struct weft_buffer *b, struct weft_record *record, uint64_t subject) {
    if (record->time < b->last) {
        record->time = b->last;
    }
    b->last = record->time;
    uint64_t position = atomic_load_explicit(&b->written, memory_order_relaxed);
    bool losing = atomic_load_explicit(&b->lost, memory_order_relaxed) != 0;
    size_t count = 1 + (size_t)(subject != 0) + (size_t)losing;
    if (!make_room(b, position, count)) {
        lose(b, position, record);
        return;
    }
    struct weft_record gap;
    if (losing && take_loss(b, position, &gap)) {
        put_one(b, &gap, position++);
    }
    if (subject != 0) {
        struct weft_record prefix = {.peer = subject, .kind = WEFT_SUBJECT};
        put_one(b, &prefix, position++);
    }
    put_one(b, record, position++);
    atomic_store_explicit(&b->written, position, memory_order_release);
}

struct weft_buffer *weft_buffer_take_new(void) {
    struct weft_buffer *all = atomic_exchange(&new_buffers, NULL);
    for (const struct weft_buffer *b = all; b != NULL; b = b->registered) {
        atomic_fetch_sub(&new_count, 1);
    }
    return all;
}

bool weft_buffer_idle(struct weft_buffer *b) {
    return atomic_load(&b->tail) != &busy_mark;
}

const struct weft_record *weft_buffer_peek(struct weft_buffer *b, uint64_t limit, size_t *count) {
    while (b->read < limit) {
        if (b->head == NULL) {
            b->head = atomic_exchange_explicit(&b->first, NULL, memory_order_acquire);
        }
        struct weft_chunk *c = b->head;
        uint64_t base = atomic_load_explicit(&c->base, memory_order_relaxed);
        struct weft_chunk *next =
            atomic_load_explicit(b->detached ? &b->first : &c->next, memory_order_acquire);
        uint64_t end = base + WEFT_CHUNK_RECORDS;
        if (next != NULL) {
            // A chunk may have been left before it was full.
            end = atomic_load_explicit(&next->base, memory_order_relaxed);
        }
        if (b->read < end) {
            *count = (size_t)((end < limit ? end : limit) - b->read);
            return &c->records[b->read - base];
        }
        if (b->detached) {
            atomic_store_explicit(&b->first, NULL, memory_order_relaxed);
            b->detached = false;
        }
        b->head = next;
        weft_pool_give(c);
    }
    return NULL;
}

void weft_buffer_advance(struct weft_buffer *b, size_t count) {
    b->read += count;
}

int64_t weft_buffer_look_loss(struct weft_buffer *b, uint64_t *position) {
    int64_t since = INT64_MAX;
    if (atomic_load_explicit(&b->lost, memory_order_relaxed) != 0) {
        pthread_mutex_lock(&b->loss_mutex);
        if (atomic_load_explicit(&b->lost, memory_order_relaxed) != 0) {
            since = b->lost_since;
            *position = b->lost_at;
        }
        pthread_mutex_unlock(&b->loss_mutex);
    }
    return since;
}

bool weft_buffer_take_loss(struct weft_buffer *b, struct weft_record *gap) {
    if (atomic_load_explicit(&b->lost, memory_order_relaxed) == 0) {
        return false;
    }
    return take_loss(b, b->read, gap);
}

void weft_buffer_reclaim(struct weft_buffer *b) {
    struct weft_chunk *c = b->head;
    struct weft_chunk *expected = c;
    if (c == NULL || (!b->detached && !atomic_compare_exchange_strong(&b->tail, &expected, NULL))) {
        return;
    }
    // The thread no longer writes into the chunk. But an idle thread may have written since the
    // sender last read, and become idle again; those records are read first.
    b->detached = b->read != atomic_load_explicit(&b->written, memory_order_acquire);
    if (!b->detached) {
        b->head = NULL;
        weft_pool_give(c);
    }
}

void weft_buffer_free(struct weft_buffer *b) {
    while (b->head != NULL) {
        struct weft_chunk *c = b->head;
        b->head = atomic_load_explicit(&c->next, memory_order_acquire);
        weft_pool_give(c);
    }
    struct weft_chunk *first = atomic_load(&b->first);
    if (first != NULL) {
        weft_pool_give(first);
    }
    pthread_mutex_destroy(&b->loss_mutex);
    free(b);
}
