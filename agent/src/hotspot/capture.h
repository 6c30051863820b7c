// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds native functions of the JVM that are not exported.
//
// Some platform classes have a native method registerNatives that registers their other native
// methods through JNI. It is called again with a JNI function table whose RegisterNatives only
// notes its arguments.

#pragma once

#include <jni.h>

// Returns the function the class registers for a method, NULL if none. Call at VMInit.
void *weft_capture(JNIEnv *env, jclass class, const char *method, const char *signature);
