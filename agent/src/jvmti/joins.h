// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Distinguishes Thread.join, which waits at the Thread object, from a wait of the program at such
// an object: a worker may be a Thread that others notify.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

void weft_joins_init(JNIEnv *env);

// Whether a thread that waits at a Thread object is in Thread.join. NULL is the current thread.
bool weft_joins(jthread thread);
