// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What JVMTI knows about a thread: its name, group and flags.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Whether the filter wants a thread; NULL is the current one.
bool weft_thread_info_wanted(JNIEnv *env, jthread thread);

// Whether the JVM started the thread for itself: it is in the root group, or one for such threads.
bool weft_thread_info_of_jvm(JNIEnv *env, jthread thread);

// Announces a thread to the roster.
void weft_thread_info_announce(JNIEnv *env, jthread thread, uint64_t id, bool is_virtual);
