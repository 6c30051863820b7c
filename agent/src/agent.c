// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How do the parts come together? Loading, the JVM's start and its end.

#include <jvmti.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "definitions.h"
#include "hooks.h"
#include "interrupts.h"
#include "jvm.h"
#include "monitors.h"
#include "options.h"
#include "owner.h"
#include "parks.h"
#include "resource.h"
#include "sender.h"
#include "settings.h"
#include "stacks.h"
#include "threads.h"

static struct weft_options options;
static struct weft_resource resource;

static const jvmtiEvent events[] = {
    JVMTI_EVENT_THREAD_START,
    JVMTI_EVENT_THREAD_END,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_CLASS_PREPARE,
};

// Whatever goes wrong, the JVM runs on; without tracing if need be.
static void give_up(const char *why) {
    fprintf(stderr, "weft: %s; the JVM runs without tracing\n", why);
}

static bool switch_events(jvmtiEnv *ti, jvmtiEventMode mode) {
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if ((*ti)->SetEventNotificationMode(ti, mode, events[i], NULL) != JVMTI_ERROR_NONE) {
            return false;
        }
    }
    return true;
}

// A property that the JVM's own library sets, which JVMTI does not know. This calls Java, which is
// allowed here, before anything is traced.
static void add_property(JNIEnv *env, const char *property, const char *key) {
    jstring name = (*env)->NewStringUTF(env, property);
    jclass system = (*env)->FindClass(env, "java/lang/System");
    if (weft_clear_exception(env) || name == NULL || system == NULL) {
        return;
    }
    jmethodID get = (*env)->GetStaticMethodID(env, system, "getProperty",
                                              "(Ljava/lang/String;)Ljava/lang/String;");
    if (weft_clear_exception(env) || get == NULL) {
        return;
    }
    jstring value = (*env)->CallStaticObjectMethod(env, system, get, name);
    if (weft_clear_exception(env) || value == NULL) {
        return;
    }
    const char *text = (*env)->GetStringUTFChars(env, value, NULL);
    if (text != NULL) {
        weft_resource_add(&resource, key, text);
        (*env)->ReleaseStringUTFChars(env, value, text);
    }
    weft_clear_exception(env);
}

static void describe_runtime(jvmtiEnv *ti) {
    static const char *const properties[] = {"java.vm.vendor", "java.vm.name", "java.vm.version"};
    char text[512] = "";
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        char *value = NULL;
        if ((*ti)->GetSystemProperty(ti, properties[i], &value) == JVMTI_ERROR_NONE) {
            size_t len = strlen(text);
            snprintf(text + len, sizeof text - len, "%s%s", len == 0 ? "" : " ", value);
            (*ti)->Deallocate(ti, (unsigned char *)value);
        }
    }
    weft_resource_add(&resource, "process.runtime.description", text);
}

static void describe(jvmtiEnv *ti, JNIEnv *env) {
    char *command = NULL;
    weft_resource_add_process(&resource, options.service);
    add_property(env, "java.runtime.name", "process.runtime.name");
    add_property(env, "java.runtime.version", "process.runtime.version");
    describe_runtime(ti);
    if ((*ti)->GetSystemProperty(ti, "sun.java.command", &command) != JVMTI_ERROR_NONE) {
        command = NULL;
    }
    weft_resource_add_command(&resource, command);
    weft_deallocate(command);
}

static bool start_sender(jvmtiEnv *ti, JNIEnv *env) {
    struct weft_sender_config config = {.endpoint = options.endpoint, .retain = options.retain};
    struct weft_hello *hello = &config.hello;
    describe(ti, env);
    if (getrandom(hello->session, sizeof hello->session, GRND_NONBLOCK) !=
        (ssize_t)sizeof hello->session) {
        memcpy(hello->session, &(int64_t){weft_wall_clock()}, sizeof(int64_t));
        memcpy(hello->session + sizeof(int64_t), &(int64_t){getpid()}, sizeof(int64_t));
    }
    if (hello->session[0] == 0) {
        hello->session[0] = 1;
    }
    struct weft_moment now = weft_moment();
    hello->wall = now.wall;
    hello->monotonic = now.monotonic;
    hello->pid = (uint32_t)getpid();
    hello->attributes = resource.list;
    hello->attribute_count = resource.count;
    return weft_sender_start(&config);
}

static void JNICALL on_vm_init(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    if (!weft_jvm_init(env)) {
        give_up("this JVM is not as it is expected (java.lang.Thread)");
        return;
    }
    if (!weft_pool_init(options.pool) || !start_sender(ti, env)) {
        give_up("no memory or no thread for the sender");
        return;
    }
    weft_definitions_init(options.definitions);
    weft_settings_apply(&options);
    weft_owner_init(env, thread);
    if (!weft_stacks_init(env, thread)) {
        fputs("weft: this JVM tells stacks through JVMTI only, which costs more\n", stderr);
    }
    weft_parks_init(env);
    if (!weft_hooks_install(env)) {
        fputs("weft: some of notify, start, sleep, interrupt and park cannot be seen on this JVM\n",
              stderr);
    }
    atomic_store(&weft_tracing, true);
    // HotSpot reports this thread's start only now, others might have done before: it comes first.
    weft_on_thread_start(ti, env, thread);
    if (!switch_events(ti, JVMTI_ENABLE)) {
        give_up("the JVM does not report events of threads and monitors");
        atomic_store(&weft_tracing, false);
    }
}

static void JNICALL on_vm_death(jvmtiEnv *ti, JNIEnv *env) {
    (void)env;
    if (atomic_exchange(&weft_tracing, false)) {
        switch_events(ti, JVMTI_DISABLE);
        weft_sender_finish();
    }
}

static bool prepare(jvmtiEnv *ti) {
    jvmtiCapabilities capabilities = {
        .can_generate_monitor_events = 1,
        .can_get_monitor_info = 1,
        .can_get_line_numbers = 1,
        .can_get_source_file_name = 1,
    };
    jvmtiEventCallbacks callbacks = {
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .ThreadStart = weft_on_thread_start,
        .ThreadEnd = weft_on_thread_end,
        .MonitorContendedEnter = weft_on_contended_enter,
        .MonitorContendedEntered = weft_on_contended_entered,
        .MonitorWait = weft_on_wait,
        .MonitorWaited = weft_on_waited,
        .ClassPrepare = weft_on_class_prepare,
    };
    return (*ti)->AddCapabilities(ti, &capabilities) == JVMTI_ERROR_NONE &&
           (*ti)->SetEventCallbacks(ti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) ==
               JVMTI_ERROR_NONE &&
           (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, NULL) ==
               JVMTI_ERROR_NONE;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved) {
    char problem[WEFT_PROBLEM_MAX];
    (void)reserved;
    if (!weft_options_parse(text, &options, problem)) {
        fprintf(stderr, "weft: %s\n", problem);
        return JNI_OK;
    }
    if ((*vm)->GetEnv(vm, (void **)&weft_jvm.ti, JVMTI_VERSION_1_2) != JNI_OK ||
        !prepare(weft_jvm.ti)) {
        give_up("this JVM has no tool interface for monitors");
    }
    return JNI_OK;
}
