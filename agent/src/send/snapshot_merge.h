// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Adds events to a thread's history that the thread did not write itself: snapshot findings, pauses
// of recording, and an unrecorded end. All functions are parts of a pass (drain.h) and return false
// if the retained batches are full.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/buffer.h"
#include "record/min_duration.h"
#include "send/batch.h"
#include "send/findings.h"

struct weft_snapshot_merge {
    struct weft_batch_writer *batch;
    struct weft_findings findings;
    unsigned pauses; // pauses of recording reported so far
};

// What a pass saw of a buffer.
struct weft_buffer_look {
    uint64_t limit;     // records written
    int64_t lost_since; // time of the events missing after them; INT64_MAX: none are
    struct weft_held_look held;
    bool idle;
    bool closed;
};

// Adds events to a thread whose history was taken up to the look. Now is when the pass began.
bool weft_snapshot_merge_thread(struct weft_snapshot_merge *m, struct weft_buffer *b,
                                const struct weft_buffer_look *look, int64_t now, size_t *total);

// Reports the end of a thread's history to a waiting snapshot, even if the batches are full.
void weft_snapshot_merge_look(struct weft_snapshot_merge *m, const struct weft_buffer *b,
                              const struct weft_buffer_look *look);

// Adds findings about threads that have not written anything yet. Now is when the pass began.
bool weft_snapshot_merge_silent(struct weft_snapshot_merge *m, int64_t now, size_t *total);
