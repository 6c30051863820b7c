// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current span of a thread as another library in this process publishes it: the thread context
// of OpenTelemetry's OTEP 4947, a thread-local variable that points to a record.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/contexts.h"

// Looks for a library that publishes spans, until one is found; only if a library was loaded since
// the last look, and at most once a second unless at once.
void weft_published_look(int64_t now, bool at_once);

// The file name of the library, NULL if there is none.
const char *weft_published_library(void);

// The current span of this thread, from the variable at *slot, which the first call sets to that of
// this thread. False if no library publishes spans.
bool weft_published_read(void *const **slot, struct weft_span *span);
