// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/drain.h"

#include <stdint.h>
#include <stdlib.h>

#include "options/settings.h"
#include "record/min_duration.h"
#include "record/roster.h"

bool weft_drain_init(struct weft_drain *d, struct weft_retain *retain, int64_t now) {
    *d = (struct weft_drain){.looked = now, .known = now};
    d->merge.batch = &d->batch;
    d->merge.pauses = atomic_load(&weft_pauses);
    return weft_batch_init(&d->batch, retain, now);
}

// Notes the kind of the newest of some records, apart from what belongs to the beginning of a wait.
static void note_newest(struct weft_buffer *b, const struct weft_record *records, size_t count) {
    b->newest = records[count - 1].time;
    while (count > 0 && (records[count - 1].kind == WEFT_EV_OWNER_CONTEXT ||
                         records[count - 1].kind == WEFT_EV_OWNER_STACK)) {
        count--;
    }
    if (count > 0) {
        b->newest_kind = records[count - 1].kind;
    }
}

// Takes a buffer's records up to a position. False if some did not fit.
static bool take_records(struct weft_drain *d, struct weft_buffer *b, uint64_t limit,
                         size_t *total) {
    size_t count;
    const struct weft_record *run;
    while ((run = weft_buffer_peek(b, limit, &count)) != NULL) {
        size_t taken = 0;
        if (run[0].kind == WEFT_SUBJECT) {
            if (!weft_virtual_records_keep(&d->virtual, run[0].peer, &run[1]) &&
                run[1].kind != WEFT_EV_GAP) {
                weft_buffer_lose_unbuffered(1);
            }
            taken = 2;
        } else if (b->thread == 0) {
            weft_buffer_lose_unbuffered((uint64_t)run[0].arg); // a gap
            taken = 1;
        } else {
            size_t room = weft_batch_room(&d->batch, b->thread);
            while (taken < count && taken < room && run[taken].kind != WEFT_SUBJECT) {
                weft_batch_put(&d->batch, &run[taken++]);
            }
            *total += taken;
        }
        if (taken == 0) {
            return false;
        }
        note_newest(b, run, taken);
        weft_buffer_advance(b, taken);
    }
    return true;
}

// Takes what the thread had written at the look, and lowers known if the thread writes the gap for
// events that were missing then: it comes later, and has their time.
static bool take_buffer(struct weft_drain *d, struct weft_buffer *b,
                        const struct weft_buffer_look *look, int64_t *known, size_t *total) {
    struct weft_record gap;
    if (!take_records(d, b, look->limit, total)) {
        return false;
    }
    if (b->thread == 0) {
        if (weft_buffer_take_loss(b, &gap)) {
            weft_buffer_lose_unbuffered((uint64_t)gap.arg);
        }
    } else if (atomic_load_explicit(&b->lost, memory_order_relaxed) != 0) {
        if (weft_batch_room(&d->batch, b->thread) == 0) {
            return false;
        }
        if (weft_buffer_take_loss(b, &gap)) {
            weft_batch_put(&d->batch, &gap);
            b->gaps++;
            ++*total;
            return true;
        }
    }
    if (look->lost_since < b->idle_at) {
        b->idle_at = look->lost_since;
    }
    if (look->lost_since < *known) {
        *known = look->lost_since;
    }
    return true;
}

// Adds new threads to the list. Returns false if out of memory.
static bool take_new(struct weft_drain *d) {
    struct weft_buffer *b = weft_buffer_take_new();
    while (b != NULL) {
        struct weft_buffer *next = b->registered;
        if (d->buffer_count == d->buffer_cap) {
            size_t cap = d->buffer_cap == 0 ? 64 : d->buffer_cap * 2;
            struct weft_buffer **grown = realloc(d->buffers, cap * sizeof(struct weft_buffer *));
            if (grown == NULL) {
                weft_buffer_give_back(b);
                return false;
            }
            d->buffers = grown;
            d->buffer_cap = cap;
        }
        b->idle_at =
            d->looked; // no look saw it yet, so it had not read the clock before the last one
        b->pauses = d->merge.pauses;
        d->buffers[d->buffer_count++] = b;
        b = next;
    }
    return true;
}

// Reports events lost without a buffer on a pseudo thread.
static bool take_unbuffered(struct weft_drain *d, int64_t since, size_t *total) {
    uint64_t lost = weft_buffer_take_unbuffered_loss();
    if (lost == 0) {
        return true;
    }
    weft_roster_announce(WEFT_LOST_THREAD, 0, "(lost)", "");
    if (weft_batch_room(&d->batch, WEFT_LOST_THREAD) == 0) {
        weft_buffer_lose_unbuffered(lost);
        return false;
    }
    struct weft_record gap = {.time = since, .arg = (int64_t)lost, .kind = WEFT_EV_GAP};
    weft_batch_put(&d->batch, &gap);
    ++*total;
    return true;
}

static void reverse(struct weft_buffer **list, size_t count) {
    for (size_t i = 0; i < count / 2; i++) {
        struct weft_buffer *b = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = b;
    }
}

// Rotates the list so that the next pass begins where this one stopped.
static void begin_with(struct weft_drain *d, size_t first) {
    reverse(d->buffers, first);
    reverse(d->buffers + first, d->buffer_count - first);
    reverse(d->buffers, d->buffer_count);
}

// Takes the beginning of a wait that a thread holds back if it is due and the thread has not
// written it meanwhile. Only then has the thread written nothing since the look. False if the
// retained batches are full.
static bool take_held(struct weft_drain *d, struct weft_buffer *b,
                      const struct weft_buffer_look *look, int64_t now, size_t *total) {
    const struct weft_held_look *held = &look->held;
    if (held->since == INT64_MAX) {
        return true;
    }
    // An idle thread reads the clock for the end later, so the wait will have lasted long enough.
    bool due = look->closed ||
               (look->idle && now - held->since >= atomic_load(&weft_settings.min_duration));
    if (!due) {
        return true;
    }
    size_t room = weft_batch_room(&d->batch, b->thread);
    if (room == 0 || (room < WEFT_HELD_RECORDS && (!weft_batch_close(&d->batch) ||
                                                   weft_batch_room(&d->batch, b->thread) == 0))) {
        return false;
    }
    size_t count = weft_min_duration_take(&b->held, held);
    for (size_t i = 0; i < count; i++) {
        weft_batch_put(&d->batch, &b->held.records[i]);
    }
    if (count > 0) {
        note_newest(b, b->held.records, count);
        weft_min_duration_taken(&b->held);
    }
    *total += count;
    return true;
}

// Looks at a thread, and lowers known to the time up to which its events are known.
static struct weft_buffer_look look_at(const struct weft_drain *d, struct weft_buffer *b,
                                       int64_t now, int64_t *known) {
    struct weft_buffer_look look = {0};
    look.closed = atomic_load_explicit(&b->closed, memory_order_acquire);
    look.idle = weft_buffer_idle(b);
    look.held = weft_min_duration_look(&b->held);
    uint64_t lost_at = 0;
    look.lost_since = weft_buffer_look_loss(b, &lost_at);
    look.limit = atomic_load_explicit(&b->written, memory_order_acquire);
    if (lost_at < look.limit) {
        look.lost_since = INT64_MAX; // the gap is written
    }
    if (look.idle && look.held.clear) {
        b->idle_at = now;
    }
    if (b->idle_at < *known) {
        *known = b->idle_at;
    }
    // A wait that began in the previous session is moved to the beginning of this one.
    if (look.held.since < *known) {
        *known = look.held.since > d->batch.began ? look.held.since : d->batch.began;
    }
    return look;
}

// Defines the thread of pauses, which JVMTI does not know, before its first record.
static void introduce(const struct weft_buffer *b, const struct weft_buffer_look *look) {
    if (b->thread == WEFT_PAUSES_THREAD && b->read == 0 &&
        (look->limit > 0 || look->held.since != INT64_MAX)) {
        weft_roster_announce(WEFT_PAUSES_THREAD, WEFT_THREAD_DAEMON, "JVM pauses", "system");
    }
}

// Looks at all threads and takes their records. False if some did not fit.
static bool take_all(struct weft_drain *d, size_t *total) {
    int64_t since = d->looked;
    int64_t now = weft_clock();
    atomic_thread_fence(memory_order_seq_cst);
    // First: if a thread was found silent, none of its earlier events is among the new ones.
    weft_findings_begin(&d->merge.findings);
    if (!take_new(d)) {
        return false;
    }
    int64_t known = now;
    d->merge.pauses = atomic_load(&weft_pauses);
    bool all = take_unbuffered(d, since, total);
    // Until the pressure is over: many threads may hold more than a quarter of the pool.
    bool short_of_chunks = weft_pool_used() > weft_pool_chunks() / 2 || weft_settings_pressed();
    size_t kept = 0;
    size_t stopped = SIZE_MAX;
    for (size_t i = 0; i < d->buffer_count; i++) {
        struct weft_buffer *b = d->buffers[i];
        struct weft_buffer_look look = look_at(d, b, now, &known);
        introduce(b, &look);
        if (all &&
            !(take_buffer(d, b, &look, &known, total) && take_held(d, b, &look, now, total) &&
              weft_snapshot_merge_thread(&d->merge, b, &look, now, total))) {
            all = false;
            stopped = kept;
        }
        weft_snapshot_merge_look(&d->merge, b, &look);
        if (all && look.closed) {
            weft_roster_gone(b->thread, d->batch.sequence + 1);
            weft_buffer_free(b);
            continue;
        }
        if (all && look.idle && short_of_chunks) {
            weft_buffer_reclaim(b);
        }
        d->buffers[kept++] = b;
    }
    d->buffer_count = kept;
    d->looked = now;
    weft_virtual_records_keep_found(&d->virtual, &d->merge.findings, d->batch.watermark);
    all = all && weft_snapshot_merge_silent(&d->merge, now, total);
    weft_findings_end(&d->merge.findings, all);
    if (all) {
        d->known = known;
    } else if (stopped != SIZE_MAX) {
        begin_with(d, stopped);
    }
    return all;
}

// Counts what a thread that has ended had to report. A gap stands for the events that it counts.
static uint64_t take_losses(struct weft_buffer *b) {
    uint64_t lost = 0;
    struct weft_record gap;
    if (weft_buffer_take_loss(b, &gap)) {
        lost += (uint64_t)gap.arg;
    }
    struct weft_held_look held = weft_min_duration_look(&b->held);
    size_t count = weft_min_duration_take(&b->held, &held);
    for (size_t i = 0; i < count; i++) {
        const struct weft_record *record = &b->held.records[i];
        lost += record->kind == WEFT_EV_GAP ? (uint64_t)record->arg : 1;
    }
    return lost;
}

// Drops ended threads while nothing can be taken, if they have only losses to report. The losses
// are reported together later.
static void sweep(struct weft_drain *d) {
    size_t kept = 0;
    if (!take_new(d)) {
        return;
    }
    for (size_t i = 0; i < d->buffer_count; i++) {
        struct weft_buffer *b = d->buffers[i];
        if (atomic_load_explicit(&b->closed, memory_order_acquire) &&
            atomic_load_explicit(&b->written, memory_order_acquire) == b->read) {
            weft_buffer_lose_unbuffered(take_losses(b));
            weft_roster_gone(b->thread, 0); // no future batch mentions it
            weft_buffer_free(b);
        } else {
            d->buffers[kept++] = b;
        }
    }
    d->buffer_count = kept;
}

size_t weft_drain_pass(struct weft_drain *d, bool beat, bool last, bool *complete) {
    size_t total = 0;
    *complete = false;
    if (d->batch.open && !weft_batch_close(&d->batch)) {
        return 0;
    }
    // Records left by an earlier pass come first, so that they cannot pile up. They get their own
    // batch: the same virtual threads may occur again in this pass.
    if (!weft_virtual_records_put(&d->virtual, &d->batch, d->known, &total) ||
        (d->batch.open && !weft_batch_close(&d->batch))) {
        return total;
    }
    d->batch.watermark = d->known;
    bool all = false;
    if (weft_retain_full(d->batch.retain)) {
        sweep(d);
    } else {
        all = take_all(d, &total);
    }
    if (all &&
        weft_virtual_records_put(&d->virtual, &d->batch, last ? INT64_MAX : d->known, &total)) {
        d->batch.watermark = d->known;
        // What buffers of no thread have lost is known only after the loss was taken.
        *complete = !weft_buffer_lost_unbuffered();
    }
    if (beat && !d->batch.open) {
        weft_batch_open(&d->batch);
    }
    if (d->batch.open) {
        weft_wire_set_watermark(&d->batch.out, d->batch.start, d->batch.watermark);
        weft_batch_close(&d->batch);
    }
    return total;
}

void weft_drain_restart(struct weft_drain *d, int64_t now) {
    size_t kept = 0;
    size_t count;
    weft_batch_restart(&d->batch, now);
    d->looked = d->known = now;
    d->virtual.count = 0;
    d->merge.pauses = atomic_load(&weft_pauses);
    weft_findings_drop(&d->merge.findings);
    weft_buffer_take_unbuffered_loss();
    take_new(d);
    for (size_t i = 0; i < d->buffer_count; i++) {
        struct weft_buffer *b = d->buffers[i];
        struct weft_record gap;
        bool closed = atomic_load_explicit(&b->closed, memory_order_acquire);
        uint64_t limit = atomic_load_explicit(&b->written, memory_order_acquire);
        while (weft_buffer_peek(b, limit, &count) != NULL) {
            weft_buffer_advance(b, count);
        }
        weft_buffer_take_loss(b, &gap);
        if (closed) {
            weft_roster_gone(b->thread, 0);
            weft_buffer_free(b);
            continue;
        }
        weft_roster_keep(b->thread);
        b->idle_at = now;
        b->newest = now;
        b->pauses = d->merge.pauses;
        d->buffers[kept++] = b;
    }
    d->buffer_count = kept;
}
