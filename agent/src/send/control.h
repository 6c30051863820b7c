// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes options at run time on request of a receiver or an attach, and keeps the options in
// effect.

#pragma once

#include <stdbool.h>

#include "options/options.h"
#include "wire/wire.h"

// Prepares a session with these options; from here on a receiver can change them. Snapshot, which
// may be NULL, is called on any thread to request a snapshot; it must not block.
void weft_control_prepare(const struct weft_options *options, void (*snapshot)(void));

// Takes a snapshot like the option, for a receiver that knows nothing of the threads yet.
void weft_control_snapshot(void);

// Begins recording.
void weft_control_begin(void);

// Ends the session: stops recording and refuses further changes.
void weft_control_end(void);

// Changes options at an attach. If they are invalid, changes nothing, returns false and describes
// the key and the remedy in one line. With detach=now, only sets detach;
// with status=now, does nothing.
bool weft_control_attach(const char *text, bool *detach, char problem[WEFT_PROBLEM_MAX]);

// Executes a control frame and appends the status that answers it.
void weft_control_answer(const struct weft_reply *control, struct weft_bytes *out);

// Returns the options in effect.
struct weft_options weft_control_options(void);
