// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens to virtual threads (21 and later)? They start and end, they park, and they are
// mounted on the threads that carry them.
//
// A park of a virtual thread is Java code: it ends in an unmount, which the JVM tells, and the
// thread's state says then why. So their parks are seen, with blocker, owner, timeout and stack.
// Unpark is Java code without any such trace. Only an unpark of a pinned one is a native call.

#ifndef WEFT_VIRTUAL_H
#define WEFT_VIRTUAL_H

#include <jvmti.h>
#include <stdbool.h>

// Sets the callbacks given, and beside them those for virtual threads.
bool weft_virtual_set_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *others);

void weft_virtual_init(JNIEnv *env);

// Begins, if they are wanted and the JVM has such threads, and ends to see them. False if the JVM
// does not do what it said.
bool weft_virtual_switch(jvmtiEnv *ti, jvmtiEventMode mode, bool are_wanted);

#endif
