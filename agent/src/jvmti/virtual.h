// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of virtual threads (21 and later): start, end, parks, and mounts on carriers.
//
// A park of a virtual thread is Java code: it ends in an unmount, which the JVM reports, and the
// thread's state then shows the reason. So parks are recorded with blocker, owner, timeout and
// stack. Unpark is Java code that leaves no such trace, except for a pinned thread, where it is a
// native call.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

// Sets the given callbacks and those for virtual threads.
bool weft_virtual_set_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *others);

// Whether the parks and mounts of virtual threads are recorded.
bool weft_virtual_follows(void);

// Enables or disables the events, if they are wanted and the JVM supports them. False if the JVM
// fails to do so. Once threads publish their spans (record/thread_context.h), mounts are followed
// as long as the JVM runs, because a carrier would otherwise keep the span of another thread.
bool weft_virtual_switch(jvmtiEnv *ti, jvmtiEventMode mode, bool are_wanted);
