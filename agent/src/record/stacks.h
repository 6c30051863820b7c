// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Call stacks: each is taken and sent once; events carry its id.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Finds out whether stacks can be recognized without JVMTI. If not, they cost several times as
// much, and the agent notices it (notices.h).
void weft_stacks_init(JNIEnv *env, jthread thread);

// False if recognition was given up after mismatches.
bool weft_stacks_recognized(void);

// Returns the id of the topmost depth frames of the current thread, defining the stack on first
// use; 0 if depth is 0, there are no Java frames, or the table or the log is full. Plain: the
// thread is a platform thread that carries no virtual one.
uint32_t weft_stacks_id(JNIEnv *env, int depth, bool plain);

// The same, always through JVMTI; depth is above 0.
uint32_t weft_stacks_resolved(JNIEnv *env, int depth);

// The same for any thread.
uint32_t weft_stacks_of(JNIEnv *env, jthread thread, int depth);

// The same for frames that JVMTI returned, at most one more than the depth.
uint32_t weft_stacks_of_frames(JNIEnv *env, const jvmtiFrameInfo *raw, jint count, int depth);
