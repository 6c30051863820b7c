// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How do the threads' records become batches, and how far is everything known? See drain.h.

#include "drain.h"

#include <stdint.h>
#include <stdlib.h>

#include "batch.h"
#include "others.h"
#include "roster.h"
#include "settings.h"

bool weft_drain_init(struct weft_drain *d, struct weft_retain *retain, int64_t now) {
    *d = (struct weft_drain){.retain = retain,
                             .began = now,
                             .reported = now,
                             .looked = now,
                             .known = now,
                             .watermark = now};
    d->pauses = atomic_load(&weft_pauses);
    d->out.cap = WEFT_BATCH_LIMIT + WEFT_RECORD_SIZE;
    d->out.data = malloc(d->out.cap);
    return d->out.data != NULL;
}

// Keeps at most as many as the pool has room for: while a thread holds the watermark up, more and
// more would come.
static bool keep_virtual(struct weft_drain *d, uint64_t thread, const struct weft_record *record) {
    if (d->virtual_count >= weft_pool_chunks() * WEFT_CHUNK_RECORDS) {
        return false;
    }
    if (d->virtual_count == d->virtual_cap) {
        size_t cap = d->virtual_cap == 0 ? 256 : d->virtual_cap * 2;
        struct weft_virtual_record *grown = realloc(d->virtual, cap * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        d->virtual = grown;
        d->virtual_cap = cap;
    }
    d->virtual[d->virtual_count++] = (struct weft_virtual_record){thread, d->virtual_order++,
                                                                  *record};
    return true;
}

static int by_thread_and_time(const void *left, const void *right) {
    const struct weft_virtual_record *a = left;
    const struct weft_virtual_record *b = right;
    if (a->thread != b->thread) {
        return a->thread < b->thread ? -1 : 1;
    }
    if (a->record.time != b->record.time) {
        return a->record.time < b->record.time ? -1 : 1;
    }
    return a->order < b->order ? -1 : 1;
}

// Puts the records of virtual threads before a time into batches. False if not all could be put.
static bool put_virtual(struct weft_drain *d, int64_t before, size_t *total) {
    size_t kept = 0;
    bool all = true;
    if (d->virtual_count > 1) {
        qsort(d->virtual, d->virtual_count, sizeof *d->virtual, by_thread_and_time);
    }
    for (size_t i = 0; i < d->virtual_count; i++) {
        struct weft_virtual_record *v = &d->virtual[i];
        if (all && v->record.time < before && weft_batch_room(d, v->thread) == 0) {
            all = false;
        }
        if (!all || v->record.time >= before) {
            d->virtual[kept++] = *v;
            continue;
        }
        weft_batch_put(d, &v->record);
        ++*total;
    }
    d->virtual_count = kept;
    return all;
}

// Takes a buffer's records up to a position. False if not all could be taken.
static bool take_records(struct weft_drain *d, struct weft_buffer *b, uint64_t limit,
                         size_t *total) {
    size_t count;
    const struct weft_record *run;
    while ((run = weft_buffer_peek(b, limit, &count)) != NULL) {
        size_t taken = 0;
        if (run[0].kind == WEFT_SUBJECT) {
            if (!keep_virtual(d, run[0].peer, &run[1]) && run[1].kind != WEFT_EV_GAP) {
                weft_lose_unbuffered(1);
            }
            taken = 2;
        } else {
            size_t room = weft_batch_room(d, b->thread);
            while (taken < count && taken < room && run[taken].kind != WEFT_SUBJECT) {
                weft_batch_put(d, &run[taken++]);
            }
            *total += taken;
        }
        if (taken == 0) {
            return false;
        }
        b->newest = run[taken - 1].time;
        b->newest_kind = run[taken - 1].kind;
        weft_buffer_advance(b, taken);
    }
    return true;
}

static bool take_buffer(struct weft_drain *d, struct weft_buffer *b, uint64_t limit,
                        size_t *total) {
    struct weft_record gap;
    if (!take_records(d, b, limit, total)) {
        return false;
    }
    if (atomic_load_explicit(&b->lost, memory_order_relaxed) != 0) {
        if (weft_batch_room(d, b->thread) == 0) {
            return false;
        }
        if (weft_buffer_take_loss(b, &gap)) {
            weft_batch_put(d, &gap);
            b->gaps++;
            ++*total;
        }
    }
    return true;
}

// Takes new threads into the list. False if there is no memory for that.
static bool take_new(struct weft_drain *d) {
    struct weft_buffer *b = weft_buffers_take_new();
    while (b != NULL) {
        struct weft_buffer *next = b->registered;
        if (d->buffer_count == d->buffer_cap) {
            size_t cap = d->buffer_cap == 0 ? 64 : d->buffer_cap * 2;
            struct weft_buffer **grown = realloc(d->buffers, cap * sizeof(struct weft_buffer *));
            if (grown == NULL) {
                weft_buffers_give_back(b);
                return false;
            }
            d->buffers = grown;
            d->buffer_cap = cap;
        }
        b->idle_at = d->looked; // the last look did not see it: it had not read the clock yet
        b->pauses = d->pauses;
        d->buffers[d->buffer_count++] = b;
        b = next;
    }
    return true;
}

// Events for which there was no buffer, on a thread that stands for them.
static bool take_unbuffered(struct weft_drain *d, int64_t since, size_t *total) {
    uint64_t lost = weft_take_unbuffered_loss();
    if (lost == 0) {
        return true;
    }
    weft_roster_announce(WEFT_LOST_THREAD, 0, "(lost)", "");
    if (weft_batch_room(d, WEFT_LOST_THREAD) == 0) {
        weft_lose_unbuffered(lost);
        return false;
    }
    struct weft_record gap = {.time = since, .arg = (int64_t)lost, .kind = WEFT_EV_GAP};
    weft_batch_put(d, &gap);
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

// Turns the list so that the next pass begins where this one had to stop.
static void begin_with(struct weft_drain *d, size_t first) {
    reverse(d->buffers, first);
    reverse(d->buffers + first, d->buffer_count - first);
    reverse(d->buffers, d->buffer_count);
}

// Looks at all threads and takes what they have. False if not everything could be taken.
static bool take_all(struct weft_drain *d, size_t *total) {
    int64_t since = d->looked;
    int64_t now = weft_clock();
    atomic_thread_fence(memory_order_seq_cst);
    // First: of a thread that was found silent, nothing that came before is among the new.
    weft_finding_begin(&d->finding);
    if (!take_new(d)) {
        return false;
    }
    int64_t known = now;
    d->pauses = atomic_load(&weft_pauses);
    bool all = take_unbuffered(d, since, total);
    int64_t least = atomic_load(&weft_settings.min_duration);
    // Under pressure until it is over: many threads may keep more than a quarter of the pool as
    // theirs.
    bool short_of_chunks = weft_pool_used() > weft_pool_chunks() / 2 || weft_settings_pressed();
    size_t kept = 0;
    size_t stopped = SIZE_MAX;
    for (size_t i = 0; i < d->buffer_count; i++) {
        struct weft_buffer *b = d->buffers[i];
        bool closed = atomic_load_explicit(&b->closed, memory_order_acquire);
        bool idle = weft_buffer_idle(b);
        struct weft_hold_look hold = weft_hold_look(&b->hold);
        uint64_t limit = atomic_load_explicit(&b->written, memory_order_acquire);
        if (idle && hold.clear) {
            b->idle_at = now;
        }
        if (b->idle_at < known) {
            known = b->idle_at;
        }
        // One that began in the session before is put at the beginning of this one.
        if (hold.since < known) {
            known = hold.since > d->began ? hold.since : d->began;
        }
        // An idle thread reads the clock for the end later, so the wait will have lasted long
        // enough.
        bool due = closed || (idle && hold.since != INT64_MAX && now - hold.since >= least);
        if (all && !(take_buffer(d, b, limit, total) && weft_take_held(d, b, &hold, due, total) &&
                     weft_take_others(d, b, limit, now, &hold, idle, closed, total))) {
            all = false;
            stopped = kept;
        }
        weft_look_at_buffer(d, b, limit, idle, hold.since != INT64_MAX);
        if (all && closed) {
            weft_roster_gone(b->thread, d->sequence + 1);
            weft_buffer_free(b);
            continue;
        }
        if (all && idle && short_of_chunks) {
            weft_buffer_reclaim(b);
        }
        d->buffers[kept++] = b;
    }
    d->buffer_count = kept;
    d->looked = now;
    all = all && weft_take_silent(d, total);
    weft_finding_end(&d->finding, all);
    if (all) {
        d->known = known;
    } else if (stopped != SIZE_MAX) {
        begin_with(d, stopped);
    }
    return all;
}

// While nothing can be taken, threads come and go all the same. Those that ended and have nothing
// but losses to report must not pile up: their losses are reported together, later.
static void sweep(struct weft_drain *d) {
    size_t kept = 0;
    if (!take_new(d)) {
        return;
    }
    for (size_t i = 0; i < d->buffer_count; i++) {
        struct weft_buffer *b = d->buffers[i];
        if (atomic_load_explicit(&b->closed, memory_order_acquire) &&
            atomic_load_explicit(&b->written, memory_order_acquire) == b->read) {
            struct weft_hold_look hold = weft_hold_look(&b->hold);
            weft_lose_unbuffered(atomic_load_explicit(&b->lost, memory_order_relaxed) +
                                 weft_hold_take(&b->hold, &hold));
            weft_roster_gone(b->thread, 0); // no batch that is still to come names it
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
    if (d->open && !weft_batch_close(d)) {
        return 0;
    }
    // What an earlier pass had to leave comes first, so that it cannot pile up.
    // A batch of its own: the same virtual threads may come again in this pass.
    if (!put_virtual(d, d->known, &total) || (d->open && !weft_batch_close(d))) {
        return total;
    }
    d->watermark = d->known;
    bool all = false;
    if (weft_retain_full(d->retain)) {
        sweep(d);
    } else {
        all = take_all(d, &total);
    }
    if (all && put_virtual(d, last ? INT64_MAX : d->known, &total)) {
        d->watermark = d->known;
        *complete = true;
    }
    if (beat && !d->open) {
        weft_batch_open(d);
    }
    if (d->open) {
        weft_set_watermark(&d->out, d->batch, d->watermark);
        weft_batch_close(d);
    }
    return total;
}

void weft_drain_restart(struct weft_drain *d, int64_t now) {
    size_t kept = 0;
    size_t count;
    d->sequence = d->before = 0;
    d->began = d->reported = d->looked = d->known = d->watermark = now;
    d->virtual_count = 0;
    d->out.len = 0;
    d->open = false;
    d->section_thread = 0;
    d->pauses = atomic_load(&weft_pauses);
    weft_finding_drop(&d->finding);
    weft_take_unbuffered_loss();
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
        b->pauses = d->pauses;
        d->buffers[kept++] = b;
    }
    d->buffer_count = kept;
}
