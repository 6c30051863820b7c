// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who owns the monitor that the current thread is about to block on?
//
// The answer is read from the JVM's own structures, at offsets that the JVM exports for debuggers.
// That costs some ten nanoseconds, where JVMTI's GetObjectMonitorUsage stops all threads. JVMTI is
// asked only to check the first answers, and where the structures do not say: at most 100 times a
// second. When the check fails repeatedly, the structures are not read any more.

#ifndef WEFT_OWNER_H
#define WEFT_OWNER_H

#include <jvmti.h>
#include <stdint.h>

// Call at VMInit on the thread whose object is given.
void weft_owner_init(JNIEnv *env, jthread thread);

// For MonitorContendedEnter on the current thread. 0: unknown, or free at this instant.
uint64_t weft_owner(JNIEnv *env, jobject object);

#endif
