// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the program is a thread? A call stack is taken once and sent once; events carry its id.

#ifndef WEFT_STACKS_H
#define WEFT_STACKS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Finds out whether stacks can be recognized without asking JVMTI for each. False if not: they cost
// several times as much then.
bool weft_stacks_init(JNIEnv *env, jthread thread);

// Must be enabled before: stacks are recognized only as long as no class is new.
void JNICALL weft_stacks_on_class_prepare(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class);

// False if recognizing was given up since it was wrong.
bool weft_stacks_recognized(void);

// The id of the current thread's stack, at most depth frames of it, defined at first sight; 0 if
// depth is 0, there are no Java frames, or the table or the log is full.
// Plain says that the thread is a platform thread that runs no virtual one.
uint32_t weft_stacks_id(JNIEnv *env, int depth, bool plain);

// The same, always as JVMTI tells it; depth is above 0.
uint32_t weft_stacks_resolved(JNIEnv *env, int depth);

// The same of any thread.
uint32_t weft_stacks_of(JNIEnv *env, jthread thread, int depth);

#endif
