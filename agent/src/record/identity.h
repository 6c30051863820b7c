// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which object, class and method is this? Small numbers that stay true while things move and go.
//
// An object is its identity hash and its class's id. A class is found by its mirror's identity hash
// and confirmed with a weak reference, so a class that was unloaded is never mistaken for another.
// A method is found by its jmethodID, which HotSpot does not use again.

#ifndef WEFT_IDENTITY_H
#define WEFT_IDENTITY_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// Fills in hash and class of the record. What is added up needs no hash: it is added by class.
void weft_identity_fill(JNIEnv *env, jobject object, struct weft_record *record, bool hashed);

// The id of a class, defined at first sight; 0 if the table or the log is full.
uint32_t weft_identity_class(JNIEnv *env, jclass class);

// What some objects are.
enum weft_trait { WEFT_THREAD = 1, WEFT_OWNABLE = 2 };

// Whether an object is one; its class's id, or 0, is given since that often tells.
bool weft_identity_is_a(JNIEnv *env, jobject object, uint32_t class_id, enum weft_trait trait);

// The id of a method, defined at first sight (with its class); 0 if the table or the log is full.
// The method must be on the current thread's stack, so that its class cannot be unloaded.
uint32_t weft_identity_method(JNIEnv *env, jmethodID method);

// The id of a class of that name, with dots, in modified UTF-8; 0 if the table or the log is full.
uint32_t weft_identity_class_by_name(const char *name);

// Whether the filter wants locks of a class. Of an id of 0, a lock that is not known, it is asked
// by the empty name.
bool weft_identity_class_wanted(uint32_t class_id);

#endif
