// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What other programs, such as eBPF profilers, may read of this process: OpenTelemetry's process
// context (OTEP 4719), in a mapping with a name. There is at most one in a process.

#pragma once

#include <stdbool.h>

#include <stdint.h>

#include "wire/wire.h"

// Publishes the attributes of a resource, and that threads publish their spans as
// record/thread_context.h says. Does nothing and returns false if the process has a context of
// somebody else, or if the kernel does not allow it. Later calls return what the first one did.
// Not for concurrent use.
bool weft_process_context_publish(const struct weft_attribute *list, uint16_t count);

// Removes what was published, if anything, so that something else can be. Not for concurrent use
// either.
void weft_process_context_withdraw(void);

// Reports whether the process has a context, of whatever origin.
bool weft_process_context_exists(void);
