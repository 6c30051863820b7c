// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current span of each thread for programs outside the process, such as eBPF profilers:
// OpenTelemetry's thread context (OTEP 4947). They read it while the thread is stopped.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Lets threads publish their spans from now on. The process's context must say so; see
// send/process_context.h.
void weft_thread_context_enable(void);

bool weft_thread_context_enabled(void);

// Where this thread's variable is.
const void *weft_thread_context_slot(void);

// Virtual threads take their spans along: from now on the caller sets that of the one that runs. If
// no caller does, their spans are not published.
void weft_thread_context_follow_virtual(void);

// False if threads publish already: then the caller has to go on, because nothing else would
// replace the span of a virtual thread that no longer runs.
bool weft_thread_context_leave_virtual(void);

// Publishes the current span of this thread of the operating system, or of the virtual thread that
// it runs; all 0: none.
void weft_thread_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span,
                             bool is_virtual);
