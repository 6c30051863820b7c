// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// When do states end that no hook sees end? A thread that was in wait, park or sleep before there
// were hooks comes back without one. So a thread of the agent's own looks, as long as there are
// such.

#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include <jvmti.h>

#include "found.h"

// A snapshot was taken: forgets what was watched, and watches the threads that are added. To be
// called in this order, by one thread at a time.
void weft_watch_begin(void);
void weft_watch_add(JNIEnv *env, jthread thread, const struct weft_found *found);
void weft_watch_end(void);

#endif
