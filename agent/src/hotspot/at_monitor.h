// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the current thread is inside of a call of the JVM that enters a monitor or waits at one,
// read from the JVM's structures at offsets that it exports for debuggers.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

// Call at VMInit, or later, on the given thread.
void weft_at_monitor_init(JNIEnv *env, jthread thread);

// False if the structures cannot be read.
bool weft_at_monitor(JNIEnv *env);
