// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the owner of the monitor that the current thread is about to block on.
//
// It reads the JVM's structures at offsets that the JVM exports for debuggers. That takes tens of
// nanoseconds, while JVMTI's GetObjectMonitorUsage stops all threads. If the monitor does not state
// its owner, the threads' lock stacks do (lock_stacks.h). JVMTI only verifies the first answers and
// replaces missing ones, at most 100 times a second. After repeated mismatches the structures are
// no longer read.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Call at VMInit on the given thread.
void weft_owner_init(JNIEnv *env, jthread thread);

// Call next: notices (notices.h) what a JVM of this version of Java lacks.
void weft_owner_note(int version);

// For MonitorContendedEnter on the current thread. 0: free at this instant, or unknown.
uint64_t weft_owner(JNIEnv *env, jobject object, bool *unknown);
