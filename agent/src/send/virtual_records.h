// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records of virtual threads, taken from the buffers of their carriers and kept until no carrier
// can have an older one of the same thread.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "send/batch.h"
#include "send/findings.h"
#include "wire/wire.h"

struct weft_virtual_record {
    uint64_t thread;
    uint64_t order;
    struct weft_record record;
};

struct weft_virtual_records {
    struct weft_virtual_record *list;
    size_t count;
    size_t cap;
    uint64_t order;
};

// Keeps a record. False if as many are kept as the pool holds: otherwise they would pile up while a
// thread holds the watermark back.
bool weft_virtual_records_keep(struct weft_virtual_records *v, uint64_t thread,
                               const struct weft_record *record);

// Keeps the valid findings about virtual threads, not before the watermark. All buffers must have
// been looked at: then a thread that is still where it was found has written nothing younger.
void weft_virtual_records_keep_found(struct weft_virtual_records *v,
                                     const struct weft_findings *findings, int64_t watermark);

// Moves the records before a time into batches. False if some did not fit.
bool weft_virtual_records_put(struct weft_virtual_records *v, struct weft_batch_writer *batch,
                              int64_t before, size_t *total);
