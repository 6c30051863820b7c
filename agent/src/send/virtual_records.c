// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/virtual_records.h"

#include <stdlib.h>

#include "record/found.h"
#include "record/pool.h"

bool weft_virtual_records_keep(struct weft_virtual_records *v, uint64_t thread,
                               const struct weft_record *record) {
    if (v->count >= weft_pool_chunks() * WEFT_CHUNK_RECORDS) {
        return false;
    }
    if (v->count == v->cap) {
        size_t cap = v->cap == 0 ? 256 : v->cap * 2;
        struct weft_virtual_record *grown = realloc(v->list, cap * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        v->list = grown;
        v->cap = cap;
    }
    v->list[v->count++] = (struct weft_virtual_record){thread, v->order++, *record};
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

void weft_virtual_records_keep_found(struct weft_virtual_records *v,
                                     const struct weft_findings *findings, int64_t watermark) {
    for (size_t i = 0; i < findings->count; i++) {
        struct weft_finding *f = &findings->list[i];
        if (f->is_virtual && f->position == 0 && weft_found_is(f->thread)) {
            if (f->record.time < watermark) {
                f->record.time = watermark;
            }
            weft_virtual_records_keep(v, f->thread, &f->record); // if there is room
        }
        if (f->is_virtual) {
            f->position = UINT64_MAX; // use it only once
        }
    }
}

bool weft_virtual_records_put(struct weft_virtual_records *v, struct weft_batch_writer *batch,
                              int64_t before, size_t *total) {
    size_t kept = 0;
    bool all = true;
    if (v->count > 1) {
        qsort(v->list, v->count, sizeof *v->list, by_thread_and_time);
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct weft_virtual_record *r = &v->list[i];
        if (all && r->record.time < before && weft_batch_room(batch, r->thread) == 0) {
            all = false;
        }
        if (!all || r->record.time >= before) {
            v->list[kept++] = *r;
            continue;
        }
        weft_batch_put(batch, &r->record);
        ++*total;
    }
    v->count = kept;
    return all;
}
