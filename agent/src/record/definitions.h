// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The log of all class, method and stack frames, in order. Application threads append, the sender
// reads; after a reconnect it reads from the start again. Once the limit is reached, nothing new is
// defined (events then carry 0).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

void weft_definitions_init(size_t limit);

// Appends whole frames, all or nothing. If it returns true, the definition is visible to every
// thread that learns its id through a later release store.
bool weft_definitions_append(const struct weft_bytes *frames);

// Whether the limit was reached.
bool weft_definitions_full(void);

// The length of the log. Everything before it is readable.
uint64_t weft_definitions_end(void);

// Returns a run of len bytes from a position below end.
const uint8_t *weft_definitions_read(uint64_t from, uint64_t end, size_t *len);
