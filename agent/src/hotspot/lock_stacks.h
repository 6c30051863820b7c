// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the owner of a monitor that has become one only because another thread contends for it.
// From Java 23 on (21, 22: an option), such a monitor says "anonymous" until its owner touches it
// again: the owner has the object on a small stack of locked objects in its thread structure.
//
// Objects are only compared, never followed, and structures read only while their threads live
// (living.h). A collection that moves objects meanwhile makes the answer unknown.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_LOCK_STACK_MAX = 64 }; // entries of a lock stack that is believed

// Call at VMInit on the given thread, with the distance from a thread structure to its JNIEnv.
// False if the JVM has no lock stacks or does not export what is needed.
bool weft_lock_stacks_init(JNIEnv *env, ptrdiff_t env_offset);

// The id of the thread that has locked an object. False if it is not found.
bool weft_lock_stacks_find(jobject object, uint64_t *id);

// The objects on the current thread's lock stack, as references for functions of JVMTI: they are
// the entries themselves, so JNI does not accept them, and they are valid until the thread returns
// to Java. Up to Java 23 there are none, as the structure of a carrier does not show whose they
// are.
unsigned weft_lock_stacks_held(JNIEnv *env, jobject held[WEFT_LOCK_STACK_MAX]);
