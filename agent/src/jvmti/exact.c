// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/exact.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "classfile/bytecode.h"
#include "classfile/rewrite.h"
#include "hotspot/jvm.h"
#include "jvmti/wakes.h"

enum { FIRST_VERSION = 21 };

static const char class_name[] = "java/lang/VirtualThread";

static const struct weft_call list[] = {
    {"unpark", "()V", "unparked"},
    {"start", "(Ljdk/internal/vm/ThreadContainer;)V", "started"},
    {"interrupt", "()V", "interrupted"},
    {"parkTimeoutExpired", "()V", "expired"}, // before it, a thread with a known name unparks
};
enum { CALLS = sizeof list / sizeof list[0], REQUIRED = 7 }; // bits of the list

static const struct weft_calls calls = {"java/lang/ThreadProbe", "(Ljava/lang/Thread;)V", list,
                                        CALLS};

// An environment of its own: it alone sees class files, and it ends with the calls.
static jvmtiEnv *environment;
static _Atomic uint32_t added; // bits of the list

static void JNICALL on_class_file(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint len,
                                  const unsigned char *file, jint *new_len,
                                  unsigned char **new_file) {
    struct weft_bytes out = {0};
    (void)env;
    (void)redefined;
    (void)domain;
    if (loader != NULL || name == NULL || strcmp(name, class_name) != 0) {
        return;
    }
    uint32_t bits = weft_rewrite(file, (size_t)len, &calls, &out);
    if ((bits & REQUIRED) == REQUIRED &&
        (*ti)->Allocate(ti, (jlong)out.len, new_file) == JVMTI_ERROR_NONE) {
        memcpy(*new_file, out.data, out.len);
        *new_len = (jint)out.len;
        atomic_store(&added, bits);
    }
    weft_bytes_free(&out);
}

static bool is_call(const uint8_t *code, jint len) {
    return len > 3 && code[0] == WEFT_OP_ALOAD_0 && code[1] == WEFT_OP_INVOKESTATIC;
}

// Whether a method begins with a call, as far as it is one of the list. Counts it.
static bool is_as_wanted(jvmtiEnv *ti, jmethodID method, uint32_t *seen) {
    char *name = NULL;
    char *descriptor = NULL;
    unsigned char *code = NULL;
    jint len = 0;
    bool ok = true;
    if ((*ti)->GetMethodName(ti, method, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) {
        return false;
    }
    for (uint32_t i = 0; i < CALLS; i++) {
        if (strcmp(name, list[i].method) == 0 && strcmp(descriptor, list[i].descriptor) == 0) {
            *seen |= UINT32_C(1) << i;
            ok = (*ti)->GetBytecodes(ti, method, &len, &code) == JVMTI_ERROR_NONE &&
                 is_call(code, len);
            weft_jvm_deallocate(code);
        }
    }
    weft_jvm_deallocate(name);
    weft_jvm_deallocate(descriptor);
    return ok;
}

// Reads back what the JVM runs from now on.
static bool is_changed(jvmtiEnv *ti, jclass class) {
    jmethodID *methods = NULL;
    jint count = 0;
    uint32_t seen = 0;
    bool ok = (*ti)->GetClassMethods(ti, class, &count, &methods) == JVMTI_ERROR_NONE;
    for (jint i = 0; ok && i < count; i++) {
        ok = is_as_wanted(ti, methods[i], &seen);
    }
    weft_jvm_deallocate(methods);
    return ok && seen == atomic_load(&added);
}

static bool open(char problem[WEFT_EXACT_PROBLEM_MAX]) {
    const jvmtiCapabilities capabilities = {.can_retransform_classes = 1, .can_get_bytecodes = 1};
    const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = on_class_file};
    if ((*weft_jvm.vm)->GetEnv(weft_jvm.vm, (void **)&environment, JVMTI_VERSION_1_2) != JNI_OK) {
        environment = NULL;
    } else if ((*environment)->AddCapabilities(environment, &capabilities) == JVMTI_ERROR_NONE &&
               (*environment)->SetEventCallbacks(environment, &callbacks, sizeof callbacks) ==
                   JVMTI_ERROR_NONE &&
               (*environment)
                       ->SetEventNotificationMode(environment, JVMTI_ENABLE,
                                                  JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
                                                  NULL) == JVMTI_ERROR_NONE) {
        return true;
    }
    snprintf(problem, WEFT_EXACT_PROBLEM_MAX, "the JVM does not let agents retransform classes");
    return false;
}

bool weft_exact_begin(JNIEnv *env, char problem[WEFT_EXACT_PROBLEM_MAX]) {
    if (weft_jvm.version < FIRST_VERSION) {
        snprintf(problem, WEFT_EXACT_PROBLEM_MAX, "Java %d has no virtual threads",
                 weft_jvm.version);
        return false;
    }
    jclass class = weft_jvm_find(env, class_name);
    if (class == NULL || !weft_wakes_bound()) {
        snprintf(problem, WEFT_EXACT_PROBLEM_MAX, "this JVM has %s",
                 class == NULL ? "no class java.lang.VirtualThread" : "refused native methods");
        return false;
    }
    atomic_store(&added, 0);
    bool ok = open(problem);
    if (ok) {
        jvmtiError error = (*environment)->RetransformClasses(environment, 1, &class);
        ok = error == JVMTI_ERROR_NONE && is_changed(environment, class);
        if (!ok) {
            snprintf(problem, WEFT_EXACT_PROBLEM_MAX,
                     "the methods of java.lang.VirtualThread are not as known (methods found: %#x, "
                     "JVMTI error %d)",
                     (unsigned)atomic_load(&added), (int)error);
        }
    }
    (*env)->DeleteLocalRef(env, class);
    if (!ok) {
        weft_exact_end(env);
    }
    return ok;
}

void weft_exact_end(JNIEnv *env) {
    jvmtiEnv *ti = environment;
    if (ti == NULL) {
        return;
    }
    environment = NULL;
    (*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    jclass class = atomic_load(&added) == 0 ? NULL : weft_jvm_find(env, class_name);
    if (class != NULL) {
        (*ti)->RetransformClasses(ti, 1, &class);
        (*env)->DeleteLocalRef(env, class);
    }
    (*ti)->DisposeEnvironment(ti);
}
