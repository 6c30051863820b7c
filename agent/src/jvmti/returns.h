// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual threads that have left a wait set and do not own the monitor yet, from Java 24 on. The
// JVM mounts such a thread only when it owns the monitor again, but does not say why it does.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// The thread has left the wait set and will write this record, at another time. If there is no
// room, it will not.
void weft_returns_note(uint64_t id, const struct weft_record *returned);

// The thread was mounted. True if it has returned; then all but the time is filled in.
bool weft_returns_take(uint64_t id, struct weft_record *returned);
