// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/batch.h"

#include <stdlib.h>

#include "record/definitions.h"
#include "record/roster.h"
#include "wire/histogram.h"

// Removes an empty section: the thread may have reported the loss itself meanwhile.
static void close_section(struct weft_batch_writer *w) {
    if (w->section_thread == 0) {
        return;
    }
    if (w->section_count == 0) {
        w->out.len = w->section;
    } else {
        weft_wire_close_section(&w->out, w->section, w->section_count);
    }
    w->section_thread = 0;
}

bool weft_batch_close(struct weft_batch_writer *w) {
    close_section(w);
    weft_wire_close_batch(&w->out, w->start);
    // All definitions that the records refer to precede them in the log.
    if (!weft_retain_add(w->retain, w->sequence + 1, weft_definitions_end(), w->out.data,
                         w->out.len)) {
        return false;
    }
    w->sequence++;
    w->before += w->events;
    w->out.len = 0;
    w->open = false;
    return true;
}

bool weft_batch_init(struct weft_batch_writer *w, struct weft_retain *retain, int64_t now) {
    *w = (struct weft_batch_writer){.retain = retain};
    w->out.cap = WEFT_BATCH_LIMIT + WEFT_RECORD_SIZE;
    w->out.data = malloc(w->out.cap);
    weft_batch_restart(w, now);
    return w->out.data != NULL;
}

void weft_batch_restart(struct weft_batch_writer *w, int64_t now) {
    w->sequence = w->before = w->base = w->base_before = 0;
    w->began = w->watermark = now;
    w->out.len = 0;
    w->open = false;
    w->section_thread = 0;
}

void weft_batch_renumber(struct weft_batch_writer *w) {
    struct weft_batch *oldest = w->retain->oldest;
    uint64_t base = w->sequence;
    uint64_t base_before = w->before;
    if (oldest != NULL) {
        base = oldest->sequence - 1;
        base_before = w->base_before + weft_wire_before(oldest->data);
    }
    uint64_t sequence = base - w->base;
    uint64_t before = base_before - w->base_before;
    for (struct weft_batch *batch = oldest; batch != NULL; batch = batch->next) {
        weft_wire_renumber(batch->data, sequence, before);
    }
    if (w->open) {
        weft_wire_renumber(w->out.data + w->start, sequence, before);
    }
    w->base = base;
    w->base_before = base_before;
}

bool weft_batch_open(struct weft_batch_writer *w) {
    if (weft_retain_full(w->retain)) {
        return false;
    }
    w->start = weft_wire_open_batch(&w->out, w->sequence + 1 - w->base, w->watermark,
                                    w->before - w->base_before);
    w->events = 0;
    w->open = true;
    return true;
}

void weft_batch_open_aggregate(struct weft_batch_writer *w, int64_t from, int64_t to) {
    w->start = weft_wire_open_aggregate(&w->out, w->sequence + 1 - w->base, w->watermark,
                                        w->before - w->base_before, from, to, WEFT_SCALE);
    w->events = 0;
    w->open = true;
}

size_t weft_batch_room(struct weft_batch_writer *w, uint64_t thread) {
    const size_t least = WEFT_SECTION_SIZE + WEFT_RECORD_SIZE;
    if (w->open && w->out.len + least > WEFT_BATCH_LIMIT && !weft_batch_close(w)) {
        return 0;
    }
    if (!w->open && !weft_batch_open(w)) {
        return 0;
    }
    if (w->section_thread != thread) {
        close_section(w);
        w->section = weft_wire_open_section(&w->out, thread);
        w->section_thread = thread;
        w->section_count = 0;
        weft_roster_mention(thread, w->sequence + 1);
    }
    return (WEFT_BATCH_LIMIT - w->out.len) / WEFT_RECORD_SIZE;
}

// Whether peer is not a thread but part of the id of a span.
static bool is_id_of_application(uint16_t kind) {
    return kind == WEFT_EV_CONTEXT || kind == WEFT_EV_OWNER_CONTEXT || kind == WEFT_EV_REQUEST_END;
}

void weft_batch_put(struct weft_batch_writer *w, const struct weft_record *record) {
    struct weft_record raised;
    if (record->time < w->began) {
        raised = *record; // it began in the previous session
        raised.time = w->began;
        record = &raised;
    }
    weft_wire_put_record(&w->out, record);
    w->section_count++;
    if (record->kind != WEFT_EV_GAP) {
        w->events++;
    }
    if (record->kind == WEFT_EV_THREAD_END && (record->flags & WEFT_FLAG_VIRTUAL) != 0) {
        weft_roster_gone(w->section_thread, w->sequence + 1);
    }
    if (record->peer != 0 && !is_id_of_application(record->kind)) {
        weft_roster_mention(record->peer, w->sequence + 1);
    }
}
