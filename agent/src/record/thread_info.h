// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What JVMTI knows about a thread: its name, group and flags.

#ifndef WEFT_THREAD_INFO_H
#define WEFT_THREAD_INFO_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// Whether the filter wants a thread; NULL is the current one.
bool weft_thread_info_wanted(JNIEnv *env, jthread thread);

// Announces a thread's definition: name, group, flags.
void weft_thread_info_announce(JNIEnv *env, jthread thread, uint64_t id, bool is_virtual);

#endif
