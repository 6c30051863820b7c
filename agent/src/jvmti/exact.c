// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/exact.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "classfile/rewrite.h"
#include "hotspot/jvm.h"
#include "hotspot/notices.h"
#include "jvmti/read_back.h"
#include "jvmti/wakes.h"
#include "wire/clock.h"

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
static atomic_bool active;

// Another agent may change the class, too, and so remove the calls. The JVM does not say when such
// a change is complete, so the bytecode is read again when none was seen for a while, and at least
// that often.
#define QUIET ((int64_t)1000000000)
static _Atomic int64_t changed;  // when a change was seen
static _Atomic int64_t check_at; // 0: not needed

static void see_change(int64_t now) {
    int64_t none = 0;
    atomic_store(&changed, now);
    atomic_compare_exchange_strong(&check_at, &none, now + QUIET);
}

static void JNICALL on_class_file(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader,
                                  const char *name, jobject domain, jint len,
                                  const unsigned char *file, jint *new_len,
                                  unsigned char **new_file) {
    struct weft_bytes out = {0};
    (void)env;
    (void)domain;
    if (loader != NULL || name == NULL || strcmp(name, class_name) != 0) {
        return;
    }
    if (redefined != NULL) {
        see_change(weft_clock());
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

static bool open(char problem[WEFT_EXACT_PROBLEM_MAX]) {
    const jvmtiCapabilities capabilities = {.can_retransform_classes = 1};
    const jvmtiCapabilities reading = {.can_get_bytecodes = 1, .can_get_constant_pool = 1};
    const jvmtiEventCallbacks callbacks = {.ClassFileLoadHook = on_class_file};
    if ((*weft_jvm.vm)->GetEnv(weft_jvm.vm, (void **)&environment, JVMTI_VERSION_1_2) != JNI_OK) {
        environment = NULL;
    } else if ((*weft_jvm.ti)->AddCapabilities(weft_jvm.ti, &reading) == JVMTI_ERROR_NONE &&
               (*environment)->AddCapabilities(environment, &capabilities) == JVMTI_ERROR_NONE &&
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
        uint32_t bits = atomic_load(&added);
        ok = error == JVMTI_ERROR_NONE && bits != 0 &&
             weft_read_back(weft_jvm.ti, class, &calls) == bits;
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
        return false;
    }
    weft_notices_withdraw(WEFT_NOTICE_CALLS_REMOVED);
    atomic_store(&check_at, 0);
    atomic_store(&active, true);
    return true;
}

static void check(JNIEnv *env, int64_t now) {
    jclass class = weft_jvm_find(env, class_name);
    // A session that ends removes the calls itself, after it has become inactive.
    if (class != NULL && weft_read_back(weft_jvm.ti, class, &calls) != atomic_load(&added) &&
        atomic_load(&active)) {
        weft_notices_raise(WEFT_NOTICE_CALLS_REMOVED);
    }
    if (class != NULL) {
        (*env)->DeleteLocalRef(env, class);
    }
    int64_t seen = atomic_load(&changed);
    if (seen + QUIET <= now) {
        atomic_store(&check_at, 0);
        int64_t later = atomic_load(&changed);
        if (later != seen) {
            see_change(later);
        }
    }
}

void weft_exact_check(JNIEnv *env) {
    int64_t at = atomic_load_explicit(&check_at, memory_order_relaxed);
    if (at == 0 || !atomic_load(&active)) {
        return;
    }
    int64_t now = weft_clock();
    if (now >= at && atomic_compare_exchange_strong(&check_at, &at, now + QUIET)) {
        check(env, now);
    }
}

void weft_exact_end(JNIEnv *env) {
    jvmtiEnv *ti = environment;
    if (ti == NULL) {
        return;
    }
    environment = NULL;
    atomic_store(&active, false);
    (*ti)->SetEventNotificationMode(ti, JVMTI_DISABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
    jclass class = atomic_load(&added) == 0 ? NULL : weft_jvm_find(env, class_name);
    if (class != NULL) {
        (*ti)->RetransformClasses(ti, 1, &class);
        (*env)->DeleteLocalRef(env, class);
    }
    (*ti)->DisposeEnvironment(ti);
}
