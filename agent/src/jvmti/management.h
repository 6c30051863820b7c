// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// At which monitors do other threads wait? JVMTI tells that only to agents that were there from the
// start and paid for it; the JVM's management interface tells everybody.

#ifndef WEFT_MANAGEMENT_H
#define WEFT_MANAGEMENT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_lock_info {
    uint64_t thread;   // given
    uint64_t owner;    // 0: none
    uint32_t hash;     // of the object that the thread waits at; 0: none
    uint32_t class_id; // of its class
};

// Fills in the locks of threads. It calls Java. False if this JVM has no management interface.
bool weft_management_locks(JNIEnv *env, struct weft_lock_info *infos, size_t count);

#endif
