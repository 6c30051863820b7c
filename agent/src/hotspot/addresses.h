// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which thread does an address inside the JVM belong to? Up to Java 23 a monitor names its owner by
// the JVM's thread structure or by a place on the owner's stack; this maps both to thread ids.

#ifndef WEFT_ADDRESSES_H
#define WEFT_ADDRESSES_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

// Switches the map on; without it, add does nothing. Offset: see weft_owner_init.
void weft_addresses_enable(ptrdiff_t env_offset);

// The current thread: adds its structure and its stack. Remove must follow before it ends.
void weft_addresses_add(JNIEnv *env, uint64_t thread);
void weft_addresses_remove(void);

// Another thread, of which only the structure is known.
void weft_addresses_add_structure(uintptr_t structure, uint64_t thread);

// The current thread ends, and may never have been added by itself.
void weft_addresses_gone(JNIEnv *env);

// The thread that an address belongs to, 0 if it is not known.
uint64_t weft_addresses_find(uintptr_t address);

#endif
