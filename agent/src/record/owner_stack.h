// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records the stack of a lock's owner. A thread about to wait requests it, at most
// WEFT_OWNER_STACKS times a second; the owner stops at its next safepoint poll, other threads
// continue.

#pragma once

#include <jvmti.h>

#include "record/self.h"

enum { WEFT_OWNER_STACKS = 50 };

// Records the stack of the owner (peer) of the wait just recorded, if that is enabled.
void weft_owner_stack(JNIEnv *env, const struct weft_scope *scope, const struct weft_record *wait);
