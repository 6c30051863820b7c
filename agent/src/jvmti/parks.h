// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of java.util.concurrent: its locks, queues and pools all wait by Unsafe.park and wake by
// Unsafe.unpark.
//
// Idle carriers of virtual threads (CarrierThread, 21 and later) are left out, both as parked and
// as unparked: they say nothing about the program. For parks of virtual threads see virtual.h.

#pragma once

#include <jvmti.h>

#include "jvmti/hook.h"
#include "record/self.h"

enum { WEFT_PARK_HOOKS = 2 }; // number of hooks that every JVM has

extern const struct weft_hook weft_park_hooks[]; // terminated by an empty hook

void weft_parks_init(JNIEnv *env);

// Fills in the class of the blocker of a parked thread; if whole, also its hash and owner.
void weft_parks_describe_blocker(JNIEnv *env, jthread thread, struct weft_record *r, bool whole);

// Records that a thread (NULL: the current one) parks, with a timeout (0: none) and flags of the
// event. False if the filter excludes the blocker.
bool weft_parks_record(JNIEnv *env, jthread thread, struct weft_scope *scope, int64_t nanoseconds,
                       uint16_t flags);
