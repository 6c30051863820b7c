// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The class objects that are used as locks, and their ids. Their ids are those of classes named
// "java.lang.Class<com.acme.Registry>".

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

// Returns the id of a class object with this hash, 0 if unknown.
uint32_t weft_class_objects_find(JNIEnv *env, jclass object, uint32_t hash);

// The same by its hash alone.
uint32_t weft_class_objects_find_hash(uint32_t hash);

// Whether there is room for another one.
bool weft_class_objects_have_room(void);

// Adds a class object and takes ownership of the reference, or returns false if the table is full.
// Callers must serialize calls.
bool weft_class_objects_add(jweak object, uint32_t hash, uint32_t id);
