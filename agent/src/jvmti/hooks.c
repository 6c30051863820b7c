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
#include "jvmti/wakes.h"

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
    jclass class = weft_jvm_find(env, hook->class_name);
    if (class == NULL) {
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

static bool is_expected(const struct weft_hook *hook) {
    int version = weft_jvm.version;
    return version == 0 || (version >= hook->from && (hook->until == 0 || version <= hook->until));
}

// If a method exists in several spellings, the first one counts. Returns how many were found.
static int install_table(JNIEnv *env, const struct weft_hook *table) {
    void *jvm = weft_vmstructs_libjvm();
    int count = 0;
    for (const struct weft_hook *hook = table; jvm != NULL && hook->class_name != NULL; hook++) {
        count += *hook->original == NULL && is_expected(hook) && install(env, jvm, hook);
    }
    return count;
}

static void install_all(JNIEnv *env) {
    installed = install_table(env, weft_monitor_hooks) + install_table(env, weft_thread_hooks) +
                install_table(env, weft_interrupt_hooks) + install_table(env, weft_yield_hooks);
    parks_installed = install_table(env, weft_park_hooks);
}

// Their users hold the lock of the agent's life.
static JNIEnv functions; // of JNI
static jclass booting;   // ThreadProbe

// What ThreadProbe.boot calls instead of JNI's function. Its caller's caller belongs to java.base,
// so the JVM does not print a warning. A native method of ThreadProbe itself would have to be found
// in a library; during an attach, java.base would have to load the agent's again for that.
static jsize JNICALL get_string_length(JNIEnv *env, jstring text) {
    *env = functions;
    install_all(env);
    weft_wakes_bind(env, booting);
    return (*env)->GetStringLength(env, text);
}

static void boot(JNIEnv *env, jclass probe) {
    jvmtiEnv *ti = weft_jvm.ti;
    jniNativeInterface *table = NULL;
    jmethodID method = (*env)->GetStaticMethodID(env, probe, "boot", "()V");
    if (weft_jvm_clear_exception(env) || method == NULL ||
        (*ti)->GetJNIFunctionTable(ti, &table) != JVMTI_ERROR_NONE) {
        return;
    }
    functions = *env;
    booting = probe;
    table->GetStringLength = get_string_length;
    *env = table; // for this thread only, until the first call
    functions->CallStaticVoidMethod(env, probe, method);
    *env = functions;
    weft_jvm_clear_exception(env);
    weft_jvm_deallocate(table);
}

bool weft_hooks_install(JNIEnv *env) {
    jclass probe = (*env)->DefineClass(env, "java/lang/ThreadProbe", NULL,
                                       (const jbyte *)weft_probe_class, sizeof weft_probe_class);
    if (weft_jvm_clear_exception(env) || probe == NULL) {
        return false;
    }
    boot(env, probe);
    (*env)->DeleteLocalRef(env, probe);
    return installed > 0 && parks_installed == WEFT_PARK_HOOKS;
}
