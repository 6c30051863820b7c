// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the list of living threads (living.h).

#pragma once

#include <jvmti.h>

// Call at VMInit on the given thread.
void weft_listing_init(JNIEnv *env, jthread thread);

// The current platform thread starts; or is older than the agent and seen for the first time; or
// ends.
void weft_listing_start(JNIEnv *env, jthread thread);
void weft_listing_seen(JNIEnv *env, jthread thread);
void weft_listing_end(JNIEnv *env);

// Lists the other threads that run Java. Thread ends must be reported already.
void weft_listing_add_known(JNIEnv *env);
