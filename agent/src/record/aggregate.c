// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/aggregate.h"

#include <stdatomic.h>
#include <stddef.h>

#include "options/settings.h"
#include "record/sums.h"

// Marks an open wait whose events go to the buffers.
enum { ELSEWHERE = 0xFFFF };

static void add(const struct weft_open_wait *wait, uint16_t kind, int64_t duration, unsigned home) {
    const struct weft_sort sort = {wait->class_id, wait->stack, kind};
    weft_sums_add(&sort, duration, home);
}

static bool is_begin(uint16_t kind) {
    return kind == WEFT_EV_CONTENDED_ENTER || kind == WEFT_EV_WAIT || kind == WEFT_EV_JOIN_START ||
           kind == WEFT_EV_SLEEP_START || kind == WEFT_EV_PARK;
}

// Returns the open wait an event belongs to, NULL if none.
static struct weft_open_wait *wait_of(struct weft_open_waits *open, uint16_t kind) {
    switch (kind) {
    case WEFT_EV_CONTENDED_ENTER:
    case WEFT_EV_CONTENDED_ENTERED:
        return &open->blocked;
    case WEFT_EV_WAIT:
    case WEFT_EV_JOIN_START:
    case WEFT_EV_SLEEP_START:
    case WEFT_EV_PARK:
    case WEFT_EV_WAITED:
    case WEFT_EV_WAIT_RETURNED:
    case WEFT_EV_JOIN_END:
    case WEFT_EV_SLEEP_END:
    case WEFT_EV_UNPARKED:
        return &open->call;
    default:
        return NULL;
    }
}

// Whether an end belongs to this wait. During a blackout it may have ended and others may have
// begun.
static bool is_known(struct weft_open_wait *wait) {
    if (wait->kind != ELSEWHERE &&
        wait->blackouts != atomic_load_explicit(&weft_blackouts, memory_order_relaxed)) {
        wait->kind = 0;
    }
    return wait->kind != 0 && wait->kind != ELSEWHERE;
}

bool weft_aggregate_takes(struct weft_open_waits *open, uint16_t kind, bool aggregated) {
    struct weft_open_wait *wait = wait_of(open, kind);
    if (wait == NULL) {
        return aggregated;
    }
    if (is_begin(kind)) {
        wait->kind = aggregated ? 0 : ELSEWHERE;
        return aggregated;
    }
    return wait->kind == 0 ? aggregated : wait->kind != ELSEWHERE;
}

static void begin(struct weft_open_wait *wait, const struct weft_record *r) {
    *wait = (struct weft_open_wait){
        .since = r->time,
        .class_id = r->class_id,
        .stack = r->stack,
        .blackouts = atomic_load_explicit(&weft_blackouts, memory_order_relaxed),
        .kind = r->kind,
    };
}

void weft_aggregate_take(struct weft_open_waits *open, const struct weft_record *r, unsigned home) {
    struct weft_open_wait *call = &open->call;
    struct weft_open_wait *wait = wait_of(open, r->kind);
    if (wait == NULL || (!is_begin(r->kind) && !is_known(wait))) {
        return; // not part of a wait, or its beginning was not seen
    }
    switch (r->kind) {
    case WEFT_EV_CONTENDED_ENTER:
        begin(&open->blocked, r);
        break;
    case WEFT_EV_CONTENDED_ENTERED:
        add(&open->blocked, open->blocked.kind, r->time - open->blocked.since, home);
        if (open->left_set != 0) {
            open->blocked_since_left += r->time - open->blocked.since;
        }
        open->blocked.kind = 0;
        break;
    case WEFT_EV_WAIT:
    case WEFT_EV_JOIN_START:
    case WEFT_EV_SLEEP_START:
    case WEFT_EV_PARK:
        begin(call, r);
        open->left_set = 0;
        open->blocked_since_left = 0;
        break;
    case WEFT_EV_WAITED:
        add(call, call->kind, r->time - call->since, home);
        open->left_set = r->time;
        break;
    case WEFT_EV_WAIT_RETURNED:
    case WEFT_EV_JOIN_END:
    case WEFT_EV_SLEEP_END:
    case WEFT_EV_UNPARKED:
        if (open->left_set != 0) {
            add(call, WEFT_EV_WAITED, r->time - open->left_set - open->blocked_since_left, home);
        } else {
            add(call, call->kind, r->time - call->since, home);
        }
        open->left_set = 0;
        call->kind = 0;
        break;
    default:
        break;
    }
}

// Waiting virtual threads, by the lower bits of their ids: up to 16 384 at a time. A thread whose
// slot is taken or busy is not measured.
enum { VIRTUAL_SLOTS = 1 << 14, SPINS = 1000 };

static struct {
    atomic_bool busy;
    uint64_t thread;
    struct weft_open_waits open;
} virtuals[VIRTUAL_SLOTS];

static atomic_bool ever; // a virtual thread was aggregated

static bool own_virtual(size_t at) {
    for (int i = 0; i < SPINS; i++) {
        if (!atomic_exchange_explicit(&virtuals[at].busy, true, memory_order_acquire)) {
            return true;
        }
    }
    return false;
}

static void disown_virtual(size_t at) {
    atomic_store_explicit(&virtuals[at].busy, false, memory_order_release);
}

bool weft_aggregate_takes_virtual(uint64_t thread, uint16_t kind, bool aggregated) {
    size_t at = thread % VIRTUAL_SLOTS;
    if (aggregated || is_begin(kind) || !atomic_load_explicit(&ever, memory_order_relaxed) ||
        !own_virtual(at)) {
        return aggregated;
    }
    bool takes =
        virtuals[at].thread == thread && weft_aggregate_takes(&virtuals[at].open, kind, false);
    disown_virtual(at);
    return takes;
}

void weft_aggregate_take_virtual(uint64_t thread, const struct weft_record *r, unsigned home) {
    size_t at = thread % VIRTUAL_SLOTS;
    atomic_store_explicit(&ever, true, memory_order_relaxed);
    if (!own_virtual(at)) {
        return;
    }
    struct weft_open_waits *open = &virtuals[at].open;
    is_known(&open->blocked); // a wait whose end was missed frees its slot
    is_known(&open->call);
    if (open->blocked.kind == 0 && open->call.kind == 0 && is_begin(r->kind)) {
        virtuals[at].thread = thread;
    }
    if (virtuals[at].thread == thread) {
        weft_aggregate_take(open, r, home);
        if (r->kind == WEFT_EV_WAITED) {
            open->call.kind = 0; // its waitReturned may be missing
        }
    }
    disown_virtual(at);
}
