// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Recognizes recurring objects. Threads mostly wait at the same few objects. For an object that a
// thread returns to, a weak reference is kept; one identity check then replaces determining its
// hash and class. There is at most one per platform thread and kind of wait.

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// Fills in hash and class of the record if the object is the cached one for its kind.
bool weft_object_cache_find(JNIEnv *env, jobject object, struct weft_record *record);

// After a miss: whether to check for a repeated object. If so, call weft_object_cache_note.
bool weft_object_cache_due(uint16_t kind);
void weft_object_cache_note(JNIEnv *env, jobject object, uint16_t kind, uint32_t hash,
                            uint32_t class_id);

// Releases the references of the current thread at its end.
void weft_object_cache_free(JNIEnv *env);
