// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where do chunks come from? The part of the pool that buffer.c uses; the rest is in buffer.h.

#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include "buffer.h"

struct weft_chunk *weft_pool_take(void); // NULL: all chunks are in use
void weft_pool_give(struct weft_chunk *chunk);

#endif
