// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where is a native function of the JVM that has no export?
//
// Some classes of the platform have a native method registerNatives, which registers their other
// native methods by JNI. It is called once more, with a JNI function table in which RegisterNatives
// only notes what it is given.

#ifndef WEFT_CAPTURE_H
#define WEFT_CAPTURE_H

#include <jni.h>

// Returns what the class registers for a method; NULL if it does not. Call at VMInit.
void *weft_capture(JNIEnv *env, jclass class, const char *method, const char *signature);

#endif
