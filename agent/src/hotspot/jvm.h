// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles of the JVM, looked up once at VMInit and read-only afterwards.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_jvm {
    JavaVM *vm;
    jvmtiEnv *ti;
    jclass thread; // java.lang.Thread
    // Returns the platform thread, even while it carries a virtual one; NULL before 21.
    jthread (*current_carrier)(JNIEnv *, jclass thread);
    jclass mirror;      // java.lang.Class; NULL: none
    jclass carrier;     // jdk.internal.misc.CarrierThread; NULL before 21
    jclass interrupted; // java.lang.InterruptedException
    jclass ownable;     // java.util.concurrent.locks.AbstractOwnableSynchronizer; NULL: none
    jfieldID tid;       // Thread.tid
    jfieldID eetop;     // Thread.eetop: the JVM's own thread structure
};

extern struct weft_jvm weft_jvm;

// Fills in weft_jvm except ti. False if something essential is missing; leaves no exception.
bool weft_jvm_init(JNIEnv *env);

// A global reference to a class, and a field ID; NULL if it does not exist. May run Java code.
jclass weft_jvm_class(JNIEnv *env, const char *name);
jfieldID weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature);

static inline uint64_t weft_jvm_thread_id(JNIEnv *env, jobject thread) {
    return (uint64_t)(*env)->GetLongField(env, thread, weft_jvm.tid);
}

static inline bool weft_jvm_is_carrier(JNIEnv *env, jobject thread) {
    return weft_jvm.carrier != NULL && (*env)->IsInstanceOf(env, thread, weft_jvm.carrier);
}

// Frees JVMTI memory; NULL is allowed.
static inline void weft_jvm_deallocate(void *memory) {
    if (memory != NULL) {
        (*weft_jvm.ti)->Deallocate(weft_jvm.ti, memory);
    }
}

// The distance from the JVM's thread structure to the JNIEnv inside it, for the current thread.
// False if unknown.
bool weft_jvm_env_offset(JNIEnv *env, jthread thread, ptrdiff_t *offset);

// A local reference to the current thread, which may be virtual; NULL on failure.
jthread weft_jvm_current_thread(void);

// The same, or its carrier if it is virtual.
jthread weft_jvm_platform_thread(JNIEnv *env);

// Calls a static method that returns an object; NULL if it does not exist or throws. Runs Java
// code.
jobject weft_jvm_call_static(JNIEnv *env, const char *class_name, const char *method,
                             const char *signature, ...);

// Removes a pending exception from the thread and reports whether it is an InterruptedException.
// Throw_again restores it; NULL is allowed.
jthrowable weft_jvm_take_exception(JNIEnv *env, bool *interrupted);
void weft_jvm_throw_again(JNIEnv *env, jthrowable thrown);

// Clears a pending exception; returns whether there was one.
bool weft_jvm_clear_exception(JNIEnv *env);
