// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does a pass write batches? See batch.h.

#include "batch.h"

#include "definitions.h"
#include "roster.h"

// A section without records is taken back: a loss may have been reported by its thread meanwhile.
static void close_section(struct weft_drain *d) {
    if (d->section_thread == 0) {
        return;
    }
    if (d->section_count == 0) {
        d->out.len = d->section;
    } else {
        weft_close_section(&d->out, d->section, d->section_count);
    }
    d->section_thread = 0;
}

bool weft_batch_close(struct weft_drain *d) {
    close_section(d);
    weft_close_batch(&d->out, d->batch);
    // What the records name was defined before they were written, so before this.
    if (!weft_retain_add(d->retain, d->sequence + 1, weft_definitions_end(), d->out.data,
                         d->out.len)) {
        return false;
    }
    d->sequence++;
    d->before += d->events;
    d->out.len = 0;
    d->open = false;
    return true;
}

bool weft_batch_open(struct weft_drain *d) {
    if (weft_retain_full(d->retain)) {
        return false;
    }
    d->batch = weft_open_batch(&d->out, d->sequence + 1, d->watermark, d->before);
    d->events = 0;
    d->open = true;
    return true;
}

size_t weft_batch_room(struct weft_drain *d, uint64_t thread) {
    const size_t least = WEFT_SECTION_SIZE + WEFT_RECORD_SIZE;
    if (d->open && d->out.len + least > WEFT_BATCH_LIMIT && !weft_batch_close(d)) {
        return 0;
    }
    if (!d->open && !weft_batch_open(d)) {
        return 0;
    }
    if (d->section_thread != thread) {
        close_section(d);
        d->section = weft_open_section(&d->out, thread);
        d->section_thread = thread;
        d->section_count = 0;
        weft_roster_mention(thread, d->sequence + 1);
    }
    return (WEFT_BATCH_LIMIT - d->out.len) / WEFT_RECORD_SIZE;
}

void weft_batch_put(struct weft_drain *d, const struct weft_record *record) {
    struct weft_record raised;
    if (record->time < d->began) {
        raised = *record; // it was begun in the session before
        raised.time = d->began;
        record = &raised;
    }
    weft_put_record(&d->out, record);
    d->section_count++;
    if (record->kind != WEFT_EV_GAP) {
        d->events++;
    }
    if (record->kind == WEFT_EV_THREAD_END && (record->flags & WEFT_FLAG_VIRTUAL) != 0) {
        weft_roster_gone(d->section_thread, d->sequence + 1);
    }
    if (record->peer != 0 && record->kind != WEFT_EV_CONTEXT) {
        weft_roster_mention(record->peer, d->sequence + 1);
    }
}
