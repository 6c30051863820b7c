// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records that threads wait until another one has initialized a class (hotspot/initializing.h), as
// contention for a lock whose class is named after the method that the holder runs, such as
// "com.acme.Registry.<clinit>".
//
// The sender looks for such threads every 20 ms; the thread that takes snapshots adds the stacks.
// The end is recorded by the thread that waited.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// Whether threads wait that are not recorded yet. The sender calls it.
bool weft_class_waits_due(int64_t now);

// Records the beginnings of these waits. The thread that takes snapshots calls it.
void weft_class_waits_take(JNIEnv *env);

// Records all waits again: the receiver knows none of them.
void weft_class_waits_forget(void);

// The current thread has left a wait of the JVM's own. Returns whether it waited for a class, and
// its beginning may be recorded; fills in what is needed for the end.
bool weft_class_waits_end(JNIEnv *env, struct weft_record *end);
