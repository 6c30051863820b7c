// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps addresses inside the JVM to thread ids. Up to Java 23 a monitor refers to its owner by the
// JVM's thread structure or by an address on the owner's stack.

#pragma once

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

// Enables the map; until then, add does nothing. Offset: see weft_owner_init.
void weft_addresses_enable(ptrdiff_t env_offset);

// Adds the structure and the stack of the current thread. It must be removed before the thread
// ends.
void weft_addresses_add(JNIEnv *env, uint64_t thread);
void weft_addresses_remove(void);

// Adds another thread, of which only the structure is known.
void weft_addresses_add_structure(uintptr_t structure, uint64_t thread);

// Removes the current thread at its end, even if it was never added by itself.
void weft_addresses_gone(JNIEnv *env);

// Returns the thread an address belongs to, 0 if unknown.
uint64_t weft_addresses_find(uintptr_t address);
