// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is the agent asked to do while it runs? It keeps the options in effect, and changes them
// when a receiver or an attach asks for that.

#ifndef WEFT_CONTROL_H
#define WEFT_CONTROL_H

#include <stdbool.h>

#include "options/options.h"
#include "wire/wire.h"

// A session is to begin with these options; from here on a receiver can change them. Snapshot is
// called, on any thread, when one is asked for; it must not block. It may be NULL.
void weft_control_prepare(const struct weft_options *options, void (*snapshot)(void));

// The session begins: all is ready to record.
void weft_control_begin(void);

// The session is over: nothing is recorded, and nothing more can be changed.
void weft_control_end(void);

// Changes options at an attach. False, and nothing is changed, if something is wrong: then there is
// one line in problem that names the key and the remedy. With detach=now nothing is changed
// either, and detach is set.
bool weft_control_attach(const char *text, bool *detach, char problem[WEFT_PROBLEM_MAX]);

// Does what a control frame asks for, and appends the status that answers it.
void weft_control_answer(const struct weft_reply *control, struct weft_bytes *out);

// The options in effect.
struct weft_options weft_control_options(void);

#endif
