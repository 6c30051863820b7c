// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Identifies methods by small, stable numbers. A method is found by its jmethodID, which HotSpot
// does not reuse.

#pragma once

#include <jvmti.h>
#include <stdint.h>

// Returns the id of a method, defining it and its class on first use; 0 if the table or the log is
// full. The method must be on the current thread's stack, so that its class cannot be unloaded.
uint32_t weft_methods_id(JNIEnv *env, jmethodID method);
