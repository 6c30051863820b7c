// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/hooks.h"

#include <dlfcn.h>
#include <stddef.h>

#include "hotspot/capture.h"
#include "hotspot/jvm.h"
#include "hotspot/vmstructs.h"
#include "jvmti/interrupts.h"
#include "jvmti/monitors.h"
#include "jvmti/parks.h"
#include "jvmti/probe_class.h"
#include "jvmti/threads.h"

static int installed;
static int parks_installed;

static bool is_native(JNIEnv *env, jclass class, const struct weft_hook *hook) {
    jmethodID method = hook->is_static
                           ? (*env)->GetStaticMethodID(env, class, hook->method, hook->signature)
                           : (*env)->GetMethodID(env, class, hook->method, hook->signature);
    jboolean native = JNI_FALSE;
    return !weft_jvm_clear_exception(env) && method != NULL &&
           (*weft_jvm.ti)->IsMethodNative(weft_jvm.ti, method, &native) == JVMTI_ERROR_NONE &&
           native;
}

// Most functions are in libjvm, some in libjava.
static void *find_export(void *jvm, const char *name) {
    void *found = dlsym(jvm, name);
    void *java = found == NULL ? dlopen("libjava.so", RTLD_NOLOAD | RTLD_LAZY) : NULL;
    return java == NULL ? found : dlsym(java, name);
}

static bool install(JNIEnv *env, void *jvm, const struct weft_hook *hook) {
    bool ok = false;
    jclass class = (*env)->FindClass(env, hook->class_name);
    if (weft_jvm_clear_exception(env) || class == NULL) {
        return false;
    }
    if (is_native(env, class, hook)) {
        *hook->original = hook->export_name == NULL
                              ? weft_capture(env, class, hook->method, hook->signature)
                              : find_export(jvm, hook->export_name);
        if (*hook->original != NULL) {
            JNINativeMethod native = {(char *)hook->method, (char *)hook->signature,
                                      hook->replacement};
            ok = (*env)->RegisterNatives(env, class, &native, 1) == 0;
            weft_jvm_clear_exception(env);
        }
    }
    (*env)->DeleteLocalRef(env, class);
    return ok;
}

// If a method exists in several spellings, the first one counts. Returns how many were found.
static int install_table(JNIEnv *env, const struct weft_hook *table) {
    void *jvm = weft_vmstructs_libjvm();
    int count = 0;
    for (const struct weft_hook *hook = table; jvm != NULL && hook->class_name != NULL; hook++) {
        count += *hook->original == NULL && install(env, jvm, hook);
    }
    return count;
}

// ThreadProbe.boot calls it; the JVM finds it by name. Its caller belongs to java.base, so the JVM
// does not print a warning.
JNIEXPORT void JNICALL Java_java_lang_ThreadProbe_init(JNIEnv *env, jclass probe);

JNIEXPORT void JNICALL Java_java_lang_ThreadProbe_init(JNIEnv *env, jclass probe) {
    (void)probe;
    installed = install_table(env, weft_monitor_hooks) + install_table(env, weft_thread_hooks) +
                install_table(env, weft_interrupt_hooks) + install_table(env, weft_yield_hooks);
    parks_installed = install_table(env, weft_park_hooks);
}

// Loads the library again on behalf of a class of java.base. Otherwise the JVM would find
// ThreadProbe.init only after the attach.
static void load_library(JNIEnv *env) {
    Dl_info self;
    jclass runtime = (*env)->FindClass(env, "java/lang/Runtime");
    jclass object = (*env)->FindClass(env, "java/lang/Object");
    if (weft_jvm_clear_exception(env) || runtime == NULL || object == NULL ||
        dladdr((void *)weft_hooks_install, &self) == 0) {
        return;
    }
    jmethodID load =
        (*env)->GetMethodID(env, runtime, "load0", "(Ljava/lang/Class;Ljava/lang/String;)V");
    if (weft_jvm_clear_exception(env) || load == NULL) {
        return;
    }
    jobject the_runtime =
        weft_jvm_call_static(env, "java/lang/Runtime", "getRuntime", "()Ljava/lang/Runtime;");
    jstring path = (*env)->NewStringUTF(env, self.dli_fname);
    if (!weft_jvm_clear_exception(env) && path != NULL && the_runtime != NULL) {
        (*env)->CallVoidMethod(env, the_runtime, load, object, path);
        weft_jvm_clear_exception(env);
    }
}

bool weft_hooks_install(JNIEnv *env, bool late) {
    if (late) {
        load_library(env);
    }
    jclass probe = (*env)->DefineClass(env, "java/lang/ThreadProbe", NULL,
                                       (const jbyte *)weft_probe_class, sizeof weft_probe_class);
    if (weft_jvm_clear_exception(env) || probe == NULL) {
        return false;
    }
    jmethodID boot = (*env)->GetStaticMethodID(env, probe, "boot", "()V");
    if (!weft_jvm_clear_exception(env) && boot != NULL) {
        (*env)->CallStaticVoidMethod(env, probe, boot);
        weft_jvm_clear_exception(env);
    }
    (*env)->DeleteLocalRef(env, probe);
    return installed > 0 && parks_installed == WEFT_PARK_HOOKS;
}
