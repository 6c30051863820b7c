// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who makes a virtual thread ready to run: what the rewritten methods of VirtualThread call
// (exact.h).

#pragma once

#include <jni.h>
#include <stdbool.h>

// Binds the native methods of ThreadProbe.
void weft_wakes_bind(JNIEnv *env, jclass probe);

// Whether they are bound.
bool weft_wakes_bound(void);
