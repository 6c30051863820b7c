// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves the records of all threads into batches and determines the watermark.
//
// A pass reads the clock, looks at each thread (idle or busy), takes what it has written, and
// closes the batches. The watermark is the minimum time at which the threads were seen idle: every
// earlier event is in a batch. See buffer.h for why that is exact.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/buffer.h"
#include "send/batch.h"
#include "send/snapshot_merge.h"
#include "send/virtual_records.h"
#include "wire/wire.h"

struct weft_drain {
    struct weft_batch_writer batch;
    struct weft_snapshot_merge merge;

    struct weft_buffer **buffers;
    size_t buffer_count;
    size_t buffer_cap;
    int64_t looked; // time of the last look at all threads
    int64_t known;  // all earlier events are taken

    struct weft_virtual_records virtual;
};

// Returns false if out of memory.
bool weft_drain_init(struct weft_drain *d, struct weft_retain *retain, int64_t now);

// Begins another session with the existing threads. Drops what they wrote between the sessions.
void weft_drain_restart(struct weft_drain *d, int64_t now);

// Makes a pass. Returns the number of records added to batches. Complete is false if the retained
// batches filled up. With beat, it always writes a batch; with last, it keeps no records of virtual
// threads back.
size_t weft_drain_pass(struct weft_drain *d, bool beat, bool last, bool *complete);
