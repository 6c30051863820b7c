// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The option virtual=exact: some methods of java.lang.VirtualThread call the agent first.
//
// Nothing else shows who makes a virtual thread ready to run: its unpark is Java code that calls
// nothing native. This is the only bytecode that the agent changes.

#pragma once

#include <jni.h>
#include <stdbool.h>

enum { WEFT_EXACT_PROBLEM_MAX = 256 };

// Changes the methods. If the JVM or its VirtualThread is not as known, returns false, changes
// nothing and describes the reason in a few words.
bool weft_exact_begin(JNIEnv *env, char problem[WEFT_EXACT_PROBLEM_MAX]);

// For a virtual thread that starts: reads the methods again if another agent has changed the class,
// and notices (notices.h) if the calls are gone.
void weft_exact_check(JNIEnv *env);

// Changes them back.
void weft_exact_end(JNIEnv *env);
