// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a thread that it did not write into its history? See others.h.

#include "others.h"

#include <stdatomic.h>

#include "batch.h"

static struct weft_record raise_to(struct weft_record record, int64_t time) {
    if (record.time < time) {
        record.time = time;
    }
    return record;
}

bool weft_take_held(struct weft_drain *d, struct weft_buffer *b, const struct weft_hold_look *hold,
                    bool due, size_t *total) {
    if (hold->since == INT64_MAX || !due) {
        return true;
    }
    size_t room = weft_batch_room(d, b->thread);
    if (room == 0 || (room < WEFT_HOLD_RECORDS &&
                      (!weft_batch_close(d) || weft_batch_room(d, b->thread) == 0))) {
        return false;
    }
    size_t count = weft_hold_take(&b->hold, hold);
    for (size_t i = 0; i < count; i++) {
        weft_batch_put(d, &b->hold.records[i]);
        b->newest = b->hold.records[i].time;
        b->newest_kind = b->hold.records[i].kind;
    }
    if (count > 0) {
        weft_hold_taken(&b->hold);
    }
    *total += count;
    return true;
}

// Puts an event that its thread did not write, behind all that it wrote. False if there is no room.
static bool put_other(struct weft_drain *d, struct weft_buffer *b, struct weft_record record,
                      size_t *total) {
    if (weft_batch_room(d, b->thread) == 0) {
        return false;
    }
    if (record.time < b->newest) {
        record.time = b->newest;
    }
    b->newest = record.time;
    b->newest_kind = record.kind;
    weft_batch_put(d, &record);
    ++*total;
    return true;
}

bool weft_take_others(struct weft_drain *d, struct weft_buffer *b, uint64_t limit, int64_t now,
                      const struct weft_hold_look *hold, bool idle, bool closed, size_t *total) {
    bool losing = atomic_load_explicit(&b->lost, memory_order_relaxed) != 0;
    // What is held back, or was at the look and is written since, is older than what would be put
    // here.
    bool holds = hold->since != INT64_MAX || weft_hold_look(&b->hold).since != INT64_MAX;
    idle = idle && !holds;
    uint64_t position = limit + b->gaps;
    struct weft_found *found = weft_finding_of(&d->finding, b->thread);
    if (found != NULL) {
        struct weft_record record = found->record;
        if (idle && !losing && !closed && found->position == position &&
            !put_other(d, b, raise_to(record, d->watermark), total)) {
            return false;
        }
        found->position = UINT64_MAX; // not a second time
    }
    if (b->pauses != d->pauses && idle) {
        if (!put_other(d, b, (struct weft_record){.time = now, .kind = WEFT_EV_GAP}, total)) {
            return false;
        }
        b->pauses = d->pauses;
    }
    if (closed && b->vanished) {
        struct weft_record end = {
            .time = now, .kind = WEFT_EV_THREAD_END, .flags = WEFT_FLAG_SNAPSHOT};
        if (!put_other(d, b, end, total)) {
            return false;
        }
        b->vanished = false;
    }
    return true;
}

void weft_look_at_buffer(struct weft_drain *d, const struct weft_buffer *b, uint64_t limit,
                         bool idle, bool holds) {
    bool losing = atomic_load_explicit(&b->lost, memory_order_relaxed) != 0;
    const struct weft_look look = {b->thread, limit + b->gaps, b->newest_kind,
                                   idle && !losing && !holds};
    weft_finding_look(&d->finding, &look);
}

bool weft_take_silent(struct weft_drain *d, size_t *total) {
    for (size_t i = 0; i < d->finding.count; i++) {
        struct weft_found *found = &d->finding.list[i];
        if (found->position == 0) {
            if (weft_batch_room(d, found->thread) == 0) {
                return false;
            }
            struct weft_record record = raise_to(found->record, d->watermark);
            weft_batch_put(d, &record);
            found->position = UINT64_MAX;
            ++*total;
        }
    }
    return true;
}
