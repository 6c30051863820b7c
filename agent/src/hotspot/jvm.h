// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Handles of the JVM, looked up once at VMInit and read-only afterwards.

#pragma once

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A class that is looked up without loading it. Until the program has loaded it, nothing is an
// instance of it.
struct weft_late_class {
    const char *name; // with slashes
    jclass _Atomic class;
    _Atomic uint64_t looked; // 1 + the number of classes at the last look
};

struct weft_jvm {
    JavaVM *vm;
    jvmtiEnv *ti;
    int version;   // of Java: 8, 11, 17; 0: unknown
    jclass thread; // java.lang.Thread
    // Returns the platform thread, even while it carries a virtual one; NULL before 21.
    jthread (*current_carrier)(JNIEnv *, jclass thread);
    jclass mirror;                  // java.lang.Class; NULL: none
    jfieldID tid;                   // Thread.tid
    jfieldID eetop;                 // Thread.eetop: the JVM's own thread structure
    struct weft_late_class carrier; // jdk.internal.misc.CarrierThread
    struct weft_late_class interrupted;
    struct weft_late_class ownable;    // java.util.concurrent.locks.AbstractOwnableSynchronizer
    struct weft_late_class read_write; // java.util.concurrent.locks.ReentrantReadWriteLock.Sync
    struct weft_late_class task;       // java.util.concurrent.FutureTask
    _Atomic uint64_t classes;          // the classes prepared during sessions
};

extern struct weft_jvm weft_jvm;

// Fills in weft_jvm except ti. False if something essential is missing; leaves no exception.
bool weft_jvm_init(JNIEnv *env);

// A local reference to a class of the boot loader, without initializing it; NULL if there is none.
jclass weft_jvm_find(JNIEnv *env, const char *name);

// The same as a global reference.
jclass weft_jvm_class(JNIEnv *env, const char *name);

// A field ID, NULL if it does not exist. Initializes the class.
jfieldID weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature);

// Counts a class; a JVMTI callback.
void JNICALL weft_jvm_on_class_prepare(jvmtiEnv *ti, JNIEnv *env, jthread thread, jclass class);

// Looks for a class that was not loaded at the last look; NULL if it still is not.
jclass weft_jvm_look(JNIEnv *env, struct weft_late_class *late);

// The class, NULL if it is not loaded.
static inline jclass weft_jvm_loaded(JNIEnv *env, struct weft_late_class *late) {
    jclass class = atomic_load_explicit(&late->class, memory_order_acquire);
    return class != NULL ? class : weft_jvm_look(env, late);
}

static inline bool weft_jvm_is_a(JNIEnv *env, jobject object, struct weft_late_class *late) {
    jclass class = weft_jvm_loaded(env, late);
    return class != NULL && (*env)->IsInstanceOf(env, object, class);
}

// 0 if the thread is being attached to the JVM: JVMTI returns it before its constructor has run.
static inline uint64_t weft_jvm_thread_id(JNIEnv *env, jobject thread) {
    return (uint64_t)(*env)->GetLongField(env, thread, weft_jvm.tid);
}

static inline bool weft_jvm_is_carrier(JNIEnv *env, jobject thread) {
    return weft_jvm.current_carrier != NULL && weft_jvm_is_a(env, thread, &weft_jvm.carrier);
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

// Removes a pending exception from the thread and reports whether it is an InterruptedException.
// Throw_again restores it; NULL is allowed.
jthrowable weft_jvm_take_exception(JNIEnv *env, bool *interrupted);
void weft_jvm_throw_again(JNIEnv *env, jthrowable thrown);

// Clears a pending exception; returns whether there was one.
bool weft_jvm_clear_exception(JNIEnv *env);
