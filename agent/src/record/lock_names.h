// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the source names the lock that a stack takes. It is read from the bytecode at the place where
// the program locks or waits, once for each place. No Java code runs.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

#include "classfile/receiver_name.h"
#include "wire/wire.h"

// Allows the names if this JVM gives bytecode. Call at most once, before the first session.
void weft_lock_names_init(jvmtiEnv *ti);

// Finds the frame of a stack that takes a lock or calls java.util.concurrent to wait, and the name
// of its lock, written into text. Innermost frame first. If there is none, the name is empty.
struct weft_named_lock weft_lock_names_find(JNIEnv *env, const jvmtiFrameInfo *frames, jint count,
                                            char text[WEFT_RECEIVER_MAX]);
