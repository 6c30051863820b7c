// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does a session begin, and how does it end? One at a time; another can follow.

#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include <jvmti.h>
#include <stdbool.h>

#include "options/options.h"

// Begins to record and to send. It calls Java. False, with a line in problem, if that cannot be.
bool weft_session_begin(JNIEnv *env, const struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]);

// Records nothing more, sends what is left, and waits for that, at most half a second. The reason
// is one of the protocol's. Does nothing if there is no session.
void weft_session_end(uint16_t reason);

bool weft_session_runs(void);

#endif
