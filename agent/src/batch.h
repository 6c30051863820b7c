// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does a pass write batches? One is open at a time, with one section open in it.

#ifndef WEFT_BATCH_H
#define WEFT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain.h"

// False if the retained batches are full.
bool weft_batch_open(struct weft_drain *d);

// False if there is no memory; the batch then stays as it is.
bool weft_batch_close(struct weft_drain *d);

// Makes the batch ready for at least one record of a thread; returns for how many there is room, 0
// if the retained batches are full.
size_t weft_batch_room(struct weft_drain *d, uint64_t thread);

// Puts a record of the thread that room was made for.
void weft_batch_put(struct weft_drain *d, const struct weft_record *record);

#endif
