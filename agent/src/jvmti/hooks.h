// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces native methods with functions of the agent that call the originals. Compiled code,
// reflection and method handles all end up there.

#pragma once

#include <jni.h>
#include <stdbool.h>

// Registers all hooks for native methods of this JVM, since what is recorded can change later.
// False if a method of every JVM is missing.
bool weft_hooks_install(JNIEnv *env);
