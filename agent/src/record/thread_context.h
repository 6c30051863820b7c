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

// Virtual threads take their spans along: the caller sets that of the one that runs now. If no
// caller does, their spans are not published.
void weft_thread_context_follow_virtual(bool follow);

// Publishes the current span of this thread of the operating system, or of the virtual thread that
// it runs; all 0: none.
void weft_thread_context_set(uint64_t trace_high, uint64_t trace_low, uint64_t span,
                             bool is_virtual);
