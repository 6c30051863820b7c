// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens at java.util.concurrent? Its locks, queues and pools all wait by Unsafe.park and
// wake by Unsafe.unpark.
//
// The threads that carry virtual threads (CarrierThread, 21 and later) are left out, as parked and
// as unparked: that they have nothing to carry tells nothing about the program. For the parks of
// virtual threads see virtual.h.

#ifndef WEFT_PARKS_H
#define WEFT_PARKS_H

#include <jvmti.h>

#include "jvmti/hook.h"
#include "record/self.h"

enum { WEFT_PARK_HOOKS = 2 }; // how many of them a JVM must have

extern const struct weft_hook weft_park_hooks[]; // ends with an empty one

void weft_parks_init(JNIEnv *env);

// Fills in what a parked thread waits at; if whole, also which one, and whom that belongs to.
void weft_parks_describe_blocker(JNIEnv *env, jthread thread, struct weft_record *r, bool whole);

// The thread (NULL: the current one) begins to park, for at most so long (0: no limit). False if
// the filter does not want what it parks at.
bool weft_parks_record(JNIEnv *env, jthread thread, const struct weft_scope *scope,
                       int64_t nanoseconds);

#endif
