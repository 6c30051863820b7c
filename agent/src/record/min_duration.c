// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/min_duration.h"

#include "options/settings.h"

// The state: phase in the lowest bits, then the number of records, then the number of the hold.
enum phase {
    EMPTY,    // owned by the thread
    HELD,     // owned by the thread, until the sender takes it
    FLUSHING, // owned by the thread, which writes the held records
    TAKING,   // owned by the sender
    TAKEN,    // owned by the thread; the wait continues, and its end will be written
};

enum { PHASE_BITS = 3, COUNT_BITS = 5 };

static unsigned phase_of(uint64_t state) {
    return (unsigned)(state & ((1U << PHASE_BITS) - 1));
}

static size_t count_of(uint64_t state) {
    return (size_t)(state >> PHASE_BITS & ((1U << COUNT_BITS) - 1));
}

static uint64_t number_of(uint64_t state) {
    return state >> (PHASE_BITS + COUNT_BITS);
}

static uint64_t make(uint64_t number, size_t count, enum phase phase) {
    return number << (PHASE_BITS + COUNT_BITS) | (uint64_t)count << PHASE_BITS | phase;
}

static bool change(struct weft_held *h, uint64_t from, uint64_t to) {
    return atomic_compare_exchange_strong_explicit(&h->state, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static uint16_t end_of(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_CONTENDED_ENTER:
        return WEFT_EV_CONTENDED_ENTERED;
    case WEFT_EV_WAIT:
        return WEFT_EV_WAIT_RETURNED;
    case WEFT_EV_JOIN_START:
        return WEFT_EV_JOIN_END;
    case WEFT_EV_SLEEP_START:
        return WEFT_EV_SLEEP_END;
    case WEFT_EV_PARK:
        return WEFT_EV_UNPARKED;
    default:
        return 0;
    }
}

// Events that are not part of a wait are recorded even if the wait is not.
static bool is_of_wait(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_CONTENDED_ENTER:
    case WEFT_EV_CONTENDED_ENTERED:
    case WEFT_EV_WAIT:
    case WEFT_EV_WAITED:
    case WEFT_EV_JOIN_START:
    case WEFT_EV_SLEEP_START:
    case WEFT_EV_PARK:
    case WEFT_EV_OWNER_STACK:
    case WEFT_EV_OWNER_CONTEXT:
        return true;
    default:
        return false;
    }
}

// The wait that is held back: a context may precede it.
static size_t wait_index(const struct weft_held *h) {
    return h->records[0].kind == WEFT_EV_CONTEXT ? 1 : 0;
}

// Writes the held records, all or only those that are not part of the wait. The sender must not be
// able to take them.
static void write_held(struct weft_buffer *b, size_t count, bool all) {
    for (size_t i = all ? 0 : wait_index(&b->held); i < count; i++) {
        if (all || !is_of_wait(b->held.records[i].kind)) {
            weft_buffer_write(b, &b->held.records[i], 0);
        }
    }
}

// Ends the hold, with or without writing all records. False if the sender has taken it.
static bool resolve(struct weft_buffer *b, uint64_t state, bool all) {
    struct weft_held *h = &b->held;
    if (!change(h, state, make(number_of(state), count_of(state), FLUSHING))) {
        return false;
    }
    write_held(b, count_of(state), all);
    atomic_store_explicit(&h->state, make(number_of(state), 0, EMPTY), memory_order_release);
    return true;
}

// What to do with a record.
enum fate { WRITE, KEEP, DROP };

static enum fate put_held(struct weft_buffer *b, uint64_t state, const struct weft_record *before,
                          struct weft_record *record) {
    struct weft_held *h = &b->held;
    size_t count = count_of(state);
    int64_t least = atomic_load_explicit(&weft_settings.min_duration, memory_order_relaxed);
    const struct weft_record *wait = &h->records[wait_index(h)];
    if (record->kind == end_of(wait->kind)) {
        bool is_long = record->time - wait->time >= least;
        // Drops the end of a short wait too, unless the sender has sent the beginning.
        return resolve(b, state, is_long) && !is_long ? DROP : WRITE;
    }
    if (count + (before != NULL) < WEFT_HELD_RECORDS) {
        if (before != NULL) {
            h->records[count++] = *before;
        }
        h->records[count++] = *record;
        return change(h, state, make(number_of(state), count, HELD)) ? KEEP : WRITE;
    }
    resolve(b, state, true);
    return WRITE;
}

static enum fate hold(struct weft_buffer *b, struct weft_record *before,
                      struct weft_record *record) {
    struct weft_held *h = &b->held;
    uint64_t state = atomic_load_explicit(&h->state, memory_order_acquire);
    if (phase_of(state) == HELD) {
        return put_held(b, state, before, record);
    }
    if (phase_of(state) == TAKING || end_of(record->kind) == 0 ||
        atomic_load_explicit(&weft_settings.min_duration, memory_order_relaxed) == 0) {
        return WRITE;
    }
    if (record->time < b->last) {
        record->time = b->last;
    }
    size_t count = 0;
    if (before != NULL) {
        before->time = record->time;
        h->records[count++] = *before;
    }
    h->records[count++] = *record;
    atomic_store_explicit(&h->since, record->time, memory_order_relaxed);
    atomic_store_explicit(&h->state, make(number_of(state) + 1, count, HELD), memory_order_release);
    return KEEP;
}

bool weft_min_duration_put_pair(struct weft_buffer *b, struct weft_record *before,
                                struct weft_record *record, uint64_t subject) {
    enum fate fate = subject != 0 ? WRITE : hold(b, before, record);
    if (fate == WRITE) {
        if (before != NULL) {
            weft_buffer_write(b, before, subject);
        }
        weft_buffer_write(b, record, subject);
    }
    return fate != DROP;
}

bool weft_min_duration_put(struct weft_buffer *b, struct weft_record *record, uint64_t subject) {
    return weft_min_duration_put_pair(b, NULL, record, subject);
}

bool weft_min_duration_holds_pair(struct weft_buffer *b) {
    uint64_t state = atomic_load_explicit(&b->held.state, memory_order_relaxed);
    return phase_of(state) == HELD && wait_index(&b->held) != 0;
}

struct weft_held_look weft_min_duration_look(struct weft_held *h) {
    struct weft_held_look look = {.since = INT64_MAX, .clear = true};
    look.state = atomic_load_explicit(&h->state, memory_order_acquire);
    if (phase_of(look.state) == HELD || phase_of(look.state) == FLUSHING) {
        look.since = atomic_load_explicit(&h->since, memory_order_acquire);
        look.clear = number_of(atomic_load_explicit(&h->state, memory_order_acquire)) ==
                     number_of(look.state);
    }
    return look;
}

size_t weft_min_duration_take(struct weft_held *h, const struct weft_held_look *look) {
    size_t count = count_of(look->state);
    if (phase_of(look->state) != HELD ||
        !change(h, look->state, make(number_of(look->state), count, TAKING))) {
        return 0;
    }
    return count;
}

void weft_min_duration_taken(struct weft_held *h) {
    uint64_t state = atomic_load_explicit(&h->state, memory_order_relaxed);
    atomic_store_explicit(&h->state, make(number_of(state), 0, TAKEN), memory_order_release);
}
