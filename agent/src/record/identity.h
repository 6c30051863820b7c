// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Identifies objects and classes by small, stable numbers.
//
// An object is identified by its identity hash and its class id. A class is found by the identity
// hash of its mirror and confirmed with a weak reference, so an unloaded class is never mistaken
// for another.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

// Fills in hash and class of the record. Sums need no hash.
void weft_identity_fill(JNIEnv *env, jobject object, struct weft_record *record, bool hashed);

// Returns the id of a class, defining it on first use; 0 if the table or the log is full.
uint32_t weft_identity_class(JNIEnv *env, jclass class);

// Returns the id for a class object as a lock, "java.lang.Class<com.acme.Registry>", by its hash,
// that of java.lang.Class if it is unknown.
uint32_t weft_identity_mirror_by_hash(JNIEnv *env, uint32_t hash);

// Traits of objects.
enum weft_trait {
    WEFT_THREAD = 1,
    WEFT_OWNABLE = 2,
    WEFT_MIRROR = 4,
    WEFT_READ_WRITE = 8,
    WEFT_TASK = 16,
};

// Whether an object is a thread or ownable; the class id, or 0, is a hint.
bool weft_identity_is_a(JNIEnv *env, jobject object, uint32_t class_id, enum weft_trait trait);

// Returns the id for a class name with dots, in modified UTF-8; 0 if the table or the log is full.
uint32_t weft_identity_class_by_name(const char *name);

// Defines a name in UTF-8, other than that of a class, and returns its id; 0 if the table or the
// log is full.
uint32_t weft_identity_define(const char *name);

// Whether the filter wants locks of a class. An unknown class (0) has the empty name.
bool weft_identity_class_wanted(uint32_t class_id);
