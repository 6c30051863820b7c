// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where is the thread that owns the lock? Asked by a thread that is about to wait for it, at most
// WEFT_OWNER_STACKS times a second: the JVM has the owner stop at its next safepoint poll and tell
// its stack, while no other thread stops.

#ifndef WEFT_OWNER_STACK_H
#define WEFT_OWNER_STACK_H

#include <jvmti.h>

#include "record/self.h"

enum { WEFT_OWNER_STACKS = 50 };

// Records where the owner (peer) of the wait that was just recorded is, if that is wanted.
void weft_owner_stack(JNIEnv *env, const struct weft_scope *scope, const struct weft_record *wait);

#endif
