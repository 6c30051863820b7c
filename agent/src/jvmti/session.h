// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The beginning and end of sessions, one at a time.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"

// Begins recording and sending. Calls Java. On failure returns false and describes the problem in
// one line; on success, what has no effect on this JVM, if anything. When give-up or duration is
// over, leave is called on a thread of its own that the JVM knows, with the number of the session.
bool weft_session_begin(JNIEnv *env, const struct weft_options *options,
                        void (*leave)(uint64_t session), char problem[WEFT_PROBLEM_MAX]);

// Ends the session: stops recording, flushes, and waits for that within exit-wait. The reason is
// one of the protocol's. Does nothing without a session.
void weft_session_end(uint16_t reason);

bool weft_session_runs(void);

// The number of the current or the last session, from 1.
uint64_t weft_session_number(void);
