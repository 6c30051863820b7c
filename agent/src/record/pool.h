// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pool of chunks that threads write their records into: a fixed range of memory, handed out
// from a stack of free chunks. Pages that were never handed out cost nothing.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

enum { WEFT_CHUNK_SIZE = 8192, WEFT_CHUNK_RECORDS = (WEFT_CHUNK_SIZE - 16) / WEFT_RECORD_SIZE };

struct weft_chunk {
    _Atomic(struct weft_chunk *) next;
    _Atomic uint64_t base; // position of the first record in the thread's history
    struct weft_record records[WEFT_CHUNK_RECORDS];
};

// Sets the size. Call once, before anything else. False if the memory cannot be reserved.
bool weft_pool_init(size_t bytes);

// Calls wake when more than a quarter of the chunks are in use.
void weft_pool_on_pressure(void (*wake)(void));
size_t weft_pool_chunks(void);
size_t weft_pool_used(void);

struct weft_chunk *weft_pool_take(void); // NULL: all chunks are in use
void weft_pool_give(struct weft_chunk *chunk);
