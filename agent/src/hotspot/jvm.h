// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What does the agent know about its JVM? Handles that are looked up once, at VMInit, and are then
// only read.

#ifndef WEFT_JVM_H
#define WEFT_JVM_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_jvm {
    JavaVM *vm;
    jvmtiEnv *ti;
    jclass thread; // java.lang.Thread
    // What runs the current thread, which may be virtual; NULL before 21.
    jthread (*current_carrier)(JNIEnv *, jclass thread);
    jclass carrier;     // jdk.internal.misc.CarrierThread; NULL before 21
    jclass interrupted; // java.lang.InterruptedException
    jclass ownable; // java.util.concurrent.locks.AbstractOwnableSynchronizer; NULL: there is none
    jfieldID tid;   // Thread.tid
    jfieldID eetop; // Thread.eetop: the JVM's own thread structure
};

extern struct weft_jvm weft_jvm;

// Fills in weft_jvm except ti. False if something that must be there is not; no exception is left.
bool weft_jvm_init(JNIEnv *env);

// A global reference to a class, and a field of one; NULL if there is none. They may run Java code.
jclass weft_jvm_class(JNIEnv *env, const char *name);
jfieldID weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature);

// The id of a thread object.
static inline uint64_t weft_jvm_thread_id(JNIEnv *env, jobject thread) {
    return (uint64_t)(*env)->GetLongField(env, thread, weft_jvm.tid);
}

// Does a thread carry virtual threads?
static inline bool weft_jvm_is_carrier(JNIEnv *env, jobject thread) {
    return weft_jvm.carrier != NULL && (*env)->IsInstanceOf(env, thread, weft_jvm.carrier);
}

// Gives JVMTI memory back; NULL is allowed.
static inline void weft_jvm_deallocate(void *memory) {
    if (memory != NULL) {
        (*weft_jvm.ti)->Deallocate(weft_jvm.ti, memory);
    }
}

// The distance from the JVM's own structure of a thread to the thread's JNIEnv, which lies in it.
// The thread is the current one. False if that cannot be told.
bool weft_jvm_env_offset(JNIEnv *env, jthread thread, ptrdiff_t *offset);

// A local reference to the current thread, which may be virtual; NULL if JVMTI does not know it.
jthread weft_jvm_current_thread(void);

// Calls a static method that returns an object; NULL if there is none or it throws. Runs Java code.
jobject weft_jvm_call_static(JNIEnv *env, const char *class_name, const char *method,
                             const char *signature, ...);

// Takes a pending exception off the thread, and whether it is an InterruptedException. Throw_again
// puts it back; NULL is allowed.
jthrowable weft_jvm_take_exception(JNIEnv *env, bool *interrupted);
void weft_jvm_throw_again(JNIEnv *env, jthrowable thrown);

// Clears a pending exception; true if there was one.
bool weft_jvm_clear_exception(JNIEnv *env);

#endif
