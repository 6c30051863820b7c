// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is it the same object again? Threads mostly wait at the same few objects. Of one that a thread
// comes back to, a weak reference is kept: then one question, whether it is the same, answers which
// hash and class it has. Of each platform thread and each way to wait there is at most one.

#ifndef WEFT_OBJECT_CACHE_H
#define WEFT_OBJECT_CACHE_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// Fills in hash and class of the record, by its kind, if the object is the one that is kept.
bool weft_object_cache_find(JNIEnv *env, jobject object, struct weft_record *record);

// After one that was not found: whether it is time to look if it is always the same. If so, tell
// what it is.
bool weft_object_cache_due(uint16_t kind);
void weft_object_cache_note(JNIEnv *env, jobject object, uint16_t kind, uint32_t hash,
                            uint32_t class_id);

// The current thread ends: gives its references back.
void weft_object_cache_free(JNIEnv *env);

#endif
