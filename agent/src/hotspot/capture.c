// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/capture.h"

#include <string.h>

#include "hotspot/jvm.h"

struct capture {
    const char *method;
    const char *signature;
    void *found;
};

// What the current thread looks for.
static __thread struct capture *capturing;

static jint JNICALL intercept(JNIEnv *env, jclass class, const JNINativeMethod *methods,
                              jint count) {
    (void)env;
    (void)class;
    for (jint i = 0; i < count; i++) {
        if (strcmp(methods[i].name, capturing->method) == 0 &&
            strcmp(methods[i].signature, capturing->signature) == 0) {
            capturing->found = methods[i].fnPtr;
        }
    }
    return JNI_OK; // they are already registered
}

void *weft_capture(JNIEnv *env, jclass class, const char *method, const char *signature) {
    jvmtiEnv *ti = weft_jvm.ti;
    jniNativeInterface *table = NULL;
    struct capture capture = {.method = method, .signature = signature};
    jmethodID again = (*env)->GetStaticMethodID(env, class, "registerNatives", "()V");
    if (weft_jvm_clear_exception(env) || again == NULL ||
        (*ti)->GetJNIFunctionTable(ti, &table) != JVMTI_ERROR_NONE) {
        return NULL;
    }
    // Only this thread gets the other table. SetJNIFunctionTable would stop all threads.
    JNIEnv original = *env;
    table->RegisterNatives = intercept;
    capturing = &capture;
    *env = table;
    original->CallStaticVoidMethod(env, class, again);
    *env = original;
    capturing = NULL;
    weft_jvm_clear_exception(env);
    weft_jvm_deallocate(table);
    return capture.found;
}
