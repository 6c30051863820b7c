// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What has been defined so far? The bytes of all class, method and stack frames, in order. Threads
// of the application append, the sender reads; after a reconnect it reads from the start again.
// The log has a limit: when it is reached, nothing new is defined (events then carry 0).

#ifndef WEFT_DEFINITIONS_H
#define WEFT_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

void weft_definitions_init(size_t limit);

// Appends whole frames, all or nothing. When it returns true, a definition is visible to everybody
// who learns of its id by a release store that follows.
bool weft_definitions_append(const struct weft_bytes *frames);

// The log's length. Everything before it can be read.
uint64_t weft_definitions_end(void);

// A run of bytes that starts at position from; its length goes to len. From must be below end.
const uint8_t *weft_definitions_read(uint64_t from, uint64_t end, size_t *len);

#endif
