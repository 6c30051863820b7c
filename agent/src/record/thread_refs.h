// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Weak references to the platform threads that have a buffer or are listed in tids.h, by thread id.

#pragma once

#include <jvmti.h>
#include <stdint.h>

// Adds a thread, unless it is known. Returns a reference to it that lasts until the thread is
// removed, or NULL.
jweak weft_thread_refs_add(JNIEnv *env, jthread thread, uint64_t id);
void weft_thread_refs_remove(JNIEnv *env, uint64_t id);

// A local reference to a thread, NULL if it is unknown or collected.
jthread weft_thread_refs_find(JNIEnv *env, uint64_t id);
