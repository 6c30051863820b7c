// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the virtual thread that a carrier carries.
//
// JVMTI has a function for it, an extension of HotSpot, during which no thread of the JVM can be
// mounted or unmounted. So the agent follows three fields of Java objects instead: the carrier's
// continuation, what that runs, and the thread of that. Only if one of them is missing it calls the
// function.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

// Looks up what is needed, once a virtual thread has been mounted. False if this JVM has none of
// it. One thread at a time calls these functions.
bool weft_carried_init(JNIEnv *env);

// A local reference; NULL if there is none. The thread may be another one already.
jthread weft_carried_on(JNIEnv *env, jthread carrier);
