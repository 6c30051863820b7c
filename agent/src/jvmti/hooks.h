// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does the agent see calls of native methods? It registers its own functions for them; those
// call the JVM's. Compiled code, reflection and method handles all end up there.

#ifndef WEFT_HOOKS_H
#define WEFT_HOOKS_H

#include <jni.h>
#include <stdbool.h>

// Registers all hooks, for methods that this JVM has as natives: what is recorded can change later.
// False if something that every JVM has was not found.
// Late: the JVM runs already.
bool weft_hooks_install(JNIEnv *env, bool late);

#endif
