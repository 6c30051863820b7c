// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual threads that have left a wait set and do not own the monitor yet, from Java 24 on. The
// JVM mounts such a thread only when it owns the monitor again, but does not say why it does.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// The thread has left the wait set; kind is that of its return. If there is no room, the return is
// not recorded.
void weft_returns_note(uint64_t id, const struct weft_record *waited, uint16_t kind);

// The thread was mounted. True if it has returned; then kind and lock are filled in.
bool weft_returns_take(uint64_t id, struct weft_record *returned);
