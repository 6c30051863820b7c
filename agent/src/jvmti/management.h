// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The monitors that other threads wait at. JVMTI reports them only to agents loaded at the start,
// at a cost; the JVM's management interface always does.

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_lock_info {
    uint64_t thread;   // given
    uint64_t owner;    // 0: none
    uint32_t hash;     // of the object; 0: none
    uint32_t class_id; // of its class
};

// Fills in the locks of the threads. Calls Java. False if this JVM has no management interface.
bool weft_management_locks(JNIEnv *env, struct weft_lock_info *infos, size_t count);
