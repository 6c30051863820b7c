// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How do the threads' records become batches, and how far is everything known?
//
// A pass reads the clock, looks at each thread (idle or busy), takes what it has written, and
// closes the batches. The watermark is the least time up to which all threads were seen idle: every
// event before it is in a batch. See buffer.h for why that is exact.

#ifndef WEFT_DRAIN_H
#define WEFT_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/buffer.h"
#include "send/batch.h"
#include "send/snapshot_merge.h"
#include "wire/wire.h"

struct weft_virtual_record {
    uint64_t thread;
    uint64_t order;
    struct weft_record record;
};

struct weft_drain {
    struct weft_batch_writer batch;
    struct weft_snapshot_merge merge;

    struct weft_buffer **buffers;
    size_t buffer_count;
    size_t buffer_cap;
    int64_t looked; // the clock at the last look at all threads
    int64_t known;  // all events before are taken from the threads

    // Records of virtual threads: taken from the carriers, and kept until no carrier can have an
    // older one of the same thread.
    struct weft_virtual_record *virtual;
    size_t virtual_count;
    size_t virtual_cap;
    uint64_t virtual_order;
};

// False if there is no memory.
bool weft_drain_init(struct weft_drain *d, struct weft_retain *retain, int64_t now);

// Begins another session with the threads that are there. What they wrote since the last one ended
// is forgotten: nobody recorded then.
void weft_drain_restart(struct weft_drain *d, int64_t now);

// Makes a pass. Returns the number of records that were put into batches. Complete is false if the
// retained batches were full before everything was taken. With beat, there is a batch even if there
// are no events; with last, records of virtual threads are not kept back.
size_t weft_drain_pass(struct weft_drain *d, bool beat, bool last, bool *complete);

#endif
