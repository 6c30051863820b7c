// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the owner of the monitor that the current thread is about to block on.
//
// It reads the JVM's structures at offsets that the JVM exports for debuggers. That takes tens of
// nanoseconds. If the monitor does not state its owner, the threads' lock stacks do
// (lock_stacks.h). The first answers are checked where the current thread is known to be the owner;
// after repeated mismatches the structures are no longer read. Up to Java 21, JVMTI's
// GetObjectMonitorUsage, which stops all threads, replaces missing answers, at most 100 times a
// second.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Call at VMInit on the given thread.
void weft_owner_init(JNIEnv *env, jthread thread);

// Call next: notices (notices.h) what a JVM of this version of Java lacks.
void weft_owner_note(int version);

// For MonitorContendedEnter on the current thread. 0: free at this instant, or unknown. Monitor is
// for weft_owner_entered; 0: no check is needed.
uint64_t weft_owner(JNIEnv *env, jobject object, bool *unknown, uintptr_t *monitor);

// The current thread has entered that monitor and still owns it. Not for carriers.
void weft_owner_entered(uintptr_t monitor, uint64_t self);

// The current thread has locked the object in Java. Not for carriers.
void weft_owner_holds(jobject object, uint64_t self);
