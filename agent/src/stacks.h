// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the program is a thread? A call stack is taken once and sent once; events carry its id.

#ifndef WEFT_STACKS_H
#define WEFT_STACKS_H

#include <jvmti.h>
#include <stdint.h>

enum { WEFT_MAX_DEPTH = 128 };

// The id of the current thread's stack, at most depth frames of it, defined at first sight; 0 if
// depth is 0, there are no Java frames, or the table or the log is full.
uint32_t weft_stack_id(JNIEnv *env, int depth);

#endif
