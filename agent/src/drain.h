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

#include "buffer.h"
#include "found.h"
#include "retain.h"
#include "wire.h"

// The largest payload of a batch.
enum { WEFT_BATCH_LIMIT = 256 * 1024 };

struct weft_virtual_record {
    uint64_t thread;
    uint64_t order;
    struct weft_record record;
};

struct weft_drain {
    struct weft_retain *retain;
    uint64_t sequence; // of the newest batch
    uint64_t before;   // events in all batches
    int64_t watermark; // of the newest batch

    struct weft_buffer **buffers;
    size_t buffer_count;
    size_t buffer_cap;
    int64_t began;  // when the session did: no record is older
    int64_t looked; // the clock at the last look at all threads
    int64_t known;  // all events before are taken from the threads

    // Records of virtual threads: taken from the carriers, and kept until no carrier can have an
    // older one of the same thread.
    struct weft_virtual_record *virtual;
    size_t virtual_count;
    size_t virtual_cap;
    uint64_t virtual_order;

    struct weft_finding finding; // of snapshots
    unsigned pauses; // of recording, that threads have been told of or are being told of

    // The batch that is being written.
    struct weft_bytes out;
    bool open;
    size_t batch;
    size_t section;
    uint64_t section_thread;
    uint32_t section_count;
    uint64_t events;

    int64_t reported; // up to when aggregates have told of the waits
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
