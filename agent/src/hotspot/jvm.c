// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/jvm.h"

#include <dlfcn.h>
#include <stdarg.h>

#include "hotspot/vmstructs.h"

struct weft_jvm weft_jvm;

bool weft_jvm_clear_exception(JNIEnv *env) {
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        return true;
    }
    return false;
}

jclass weft_jvm_class(JNIEnv *env, const char *name) {
    jclass local = (*env)->FindClass(env, name);
    if (weft_jvm_clear_exception(env) || local == NULL) {
        return NULL;
    }
    jclass global = (*env)->NewGlobalRef(env, local);
    (*env)->DeleteLocalRef(env, local);
    return global;
}

jfieldID weft_jvm_field(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jfieldID id = (*env)->GetFieldID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

jthread weft_jvm_current_thread(void) {
    jthread current = NULL;
    jvmtiError error = (*weft_jvm.ti)->GetCurrentThread(weft_jvm.ti, &current);
    return error == JVMTI_ERROR_NONE ? current : NULL;
}

jthread weft_jvm_platform_thread(JNIEnv *env) {
    return weft_jvm.current_carrier == NULL ? weft_jvm_current_thread()
                                            : weft_jvm.current_carrier(env, weft_jvm.thread);
}

jobject weft_jvm_call_static(JNIEnv *env, const char *class_name, const char *method,
                             const char *signature, ...) {
    jclass class = (*env)->FindClass(env, class_name);
    if (weft_jvm_clear_exception(env) || class == NULL) {
        return NULL;
    }
    jmethodID id = (*env)->GetStaticMethodID(env, class, method, signature);
    if (weft_jvm_clear_exception(env) || id == NULL) {
        return NULL;
    }
    va_list arguments;
    va_start(arguments, signature);
    jobject result = (*env)->CallStaticObjectMethodV(env, class, id, arguments);
    va_end(arguments);
    return weft_jvm_clear_exception(env) ? NULL : result;
}

jthrowable weft_jvm_take_exception(JNIEnv *env, bool *interrupted) {
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    if (thrown != NULL) {
        (*env)->ExceptionClear(env);
    }
    *interrupted = thrown != NULL && (*env)->IsInstanceOf(env, thrown, weft_jvm.interrupted);
    return thrown;
}

void weft_jvm_throw_again(JNIEnv *env, jthrowable thrown) {
    if (thrown != NULL) {
        (*env)->Throw(env, thrown);
        (*env)->DeleteLocalRef(env, thrown);
    }
}

bool weft_jvm_env_offset(JNIEnv *env, jthread thread, ptrdiff_t *offset) {
    if (weft_jvm.eetop == NULL) {
        return false;
    }
    uintptr_t structure = (uintptr_t)(*env)->GetLongField(env, thread, weft_jvm.eetop);
    *offset = (ptrdiff_t)((uintptr_t)env - structure);
    return structure != 0 && *offset > 0 && *offset <= 16384;
}

bool weft_jvm_init(JNIEnv *env) {
    struct weft_jvm *jvm = &weft_jvm;
    jvm->thread = weft_jvm_class(env, "java/lang/Thread");
    jvm->mirror = weft_jvm_class(env, "java/lang/Class");
    jvm->interrupted = weft_jvm_class(env, "java/lang/InterruptedException");
    jvm->ownable = weft_jvm_class(env, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    if (jvm->thread == NULL || jvm->interrupted == NULL) {
        return false;
    }
    jvm->tid = weft_jvm_field(env, jvm->thread, "tid", "J");
    jvm->eetop = weft_jvm_field(env, jvm->thread, "eetop", "J");
    if ((*env)->GetVersion(env) >= 0x00150000) { // 21
        void *library = weft_vmstructs_libjvm();
        jvm->current_carrier = library == NULL ? NULL : dlsym(library, "JVM_CurrentCarrierThread");
        jvm->carrier = weft_jvm_class(env, "jdk/internal/misc/CarrierThread");
    }
    return jvm->tid != NULL;
}
