// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes batches. One is open at a time, with one section open in it.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "send/retain.h"
#include "wire/wire.h"

// The largest payload of a batch.
enum { WEFT_BATCH_LIMIT = 256 * 1024 };

struct weft_batch_writer {
    struct weft_retain *retain;
    uint64_t sequence; // of the newest batch
    uint64_t before;   // events in all batches
    int64_t watermark; // of the newest batch
    int64_t began;     // when the session began; older times are raised to it

    // The numbers above, where the session changed its identity: those on the wire begin there.
    uint64_t base;
    uint64_t base_before;

    // The batch being written.
    struct weft_bytes out;
    bool open;
    size_t start; // of its frame
    size_t section;
    uint64_t section_thread;
    uint32_t section_count;
    uint64_t events;
};

// Returns false if out of memory.
bool weft_batch_init(struct weft_batch_writer *w, struct weft_retain *retain, int64_t now);

// Starts another session: drops the open batch and resets the counts.
void weft_batch_restart(struct weft_batch_writer *w, int64_t now);

// Renumbers all batches that are not acknowledged, and those to come, for a session with another
// identity: the oldest becomes the first, without events before it.
void weft_batch_renumber(struct weft_batch_writer *w);

// False if the retained batches are full.
bool weft_batch_open(struct weft_batch_writer *w);

// Opens an aggregate of the given period instead.
void weft_batch_open_aggregate(struct weft_batch_writer *w, int64_t from, int64_t to);

// Retains the batch. Returns false if out of memory; the batch then stays open.
bool weft_batch_close(struct weft_batch_writer *w);

// Prepares the batch for records of a thread. Returns how many fit, at least one; 0 if the retained
// batches are full.
size_t weft_batch_room(struct weft_batch_writer *w, uint64_t thread);

// Adds a record of the thread of the last weft_batch_room.
void weft_batch_put(struct weft_batch_writer *w, const struct weft_record *record);
