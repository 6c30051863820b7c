// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/snapshot_merge.h"

#include <stdatomic.h>

static struct weft_record raise_to(struct weft_record record, int64_t time) {
    if (record.time < time) {
        record.time = time;
    }
    return record;
}

// The record of a finding. What was seen gets no later time than that of the pass: the thread may
// have written a later event since.
static struct weft_record record_of(const struct weft_finding *f, int64_t watermark, int64_t now) {
    struct weft_record r = f->record;
    if (f->seen && r.time > now) {
        r.time = now;
    }
    r = raise_to(r, watermark);
    if (f->since != 0 && f->since < r.time) {
        r.arg = r.time - f->since;
    }
    return r;
}

static bool is_held(const struct weft_held_look *held) {
    return held->since != INT64_MAX;
}

static bool is_losing(const struct weft_buffer *b) {
    return atomic_load_explicit(&b->lost, memory_order_relaxed) != 0;
}

// Adds an event after all that its thread wrote; NULL: it has no buffer.
static bool put(struct weft_snapshot_merge *m, uint64_t thread, struct weft_buffer *b,
                struct weft_record record, size_t *total) {
    if (weft_batch_room(m->batch, thread) == 0) {
        return false;
    }
    if (b != NULL) {
        record = raise_to(record, b->newest);
        b->newest = record.time;
        if (record.kind != WEFT_EV_CPU && record.kind != WEFT_EV_RUN_QUEUE) {
            b->newest_kind = record.kind;
        }
    }
    weft_batch_put(m->batch, &record);
    ++*total;
    return true;
}

// Whether the record of a finding is the second half of a reading of clocks.
static bool has_queue(const struct weft_finding *f) {
    return f->record.kind == WEFT_EV_CPU && f->queued >= 0;
}

static struct weft_record queue_of(const struct weft_finding *f, const struct weft_record *cpu) {
    struct weft_record r = *cpu;
    r.kind = WEFT_EV_RUN_QUEUE;
    r.arg = f->queued;
    return r;
}

static bool put_finding(struct weft_snapshot_merge *m, struct weft_buffer *b,
                        const struct weft_finding *f, int64_t now, size_t *total) {
    struct weft_record record = record_of(f, m->batch->watermark, now);
    return (!has_queue(f) || put(m, f->thread, b, queue_of(f, &record), total)) &&
           put(m, f->thread, b, record, total);
}

bool weft_snapshot_merge_thread(struct weft_snapshot_merge *m, struct weft_buffer *b,
                                const struct weft_buffer_look *look, int64_t now, size_t *total) {
    bool losing = is_losing(b);
    if (b->thread == 0) {
        return true;
    }
    // What is held back, or was at the look and is written since, is older than an event added
    // here.
    struct weft_held_look held = weft_min_duration_look(&b->held);
    bool idle = look->idle && !is_held(&look->held) && !is_held(&held);
    uint64_t position = look->limit + b->gaps;
    struct weft_finding *finding = weft_findings_of(&m->findings, b->thread);
    if (finding != NULL) {
        bool current = finding->position == (finding->seen ? look->limit : position);
        if (idle && !losing && !look->closed && current &&
            !put_finding(m, b, finding, now, total)) {
            return false;
        }
        finding->position = UINT64_MAX; // use it only once
    }
    if (b->pauses != m->pauses && idle) {
        if (!put(m, b->thread, b, (struct weft_record){.time = now, .kind = WEFT_EV_GAP}, total)) {
            return false;
        }
        b->pauses = m->pauses;
        atomic_fetch_add_explicit(&b->gapped, 1, memory_order_relaxed);
    }
    if (look->closed && b->vanished) {
        struct weft_record end = {
            .time = now, .kind = WEFT_EV_THREAD_END, .flags = WEFT_FLAG_SNAPSHOT};
        if (!put(m, b->thread, b, end, total)) {
            return false;
        }
        b->vanished = false;
    }
    return true;
}

void weft_snapshot_merge_look(struct weft_snapshot_merge *m, const struct weft_buffer *b,
                              const struct weft_buffer_look *look) {
    if (b->thread == 0) {
        return;
    }
    const struct weft_look at = {b->thread, look->limit + b->gaps, b->newest_kind,
                                 look->idle && !is_losing(b) && !is_held(&look->held)};
    weft_findings_note_look(&m->findings, &at);
}

bool weft_snapshot_merge_silent(struct weft_snapshot_merge *m, int64_t now, size_t *total) {
    for (size_t i = 0; i < m->findings.count; i++) {
        struct weft_finding *finding = &m->findings.list[i];
        if (finding->position == 0) {
            if (!put_finding(m, NULL, finding, now, total)) {
                return false;
            }
            finding->position = UINT64_MAX;
        }
    }
    return true;
}
