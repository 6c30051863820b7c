// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The start of the agent with the JVM or later, changes of its options, and JVM exit.

#include "jvmti/agent.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "hotspot/at_monitor.h"
#include "hotspot/initializing.h"
#include "hotspot/jvm.h"
#include "hotspot/listing.h"
#include "hotspot/owner.h"
#include "jvmti/answer.h"
#include "jvmti/hooks.h"
#include "jvmti/joins.h"
#include "jvmti/monitors.h"
#include "jvmti/parks.h"
#include "jvmti/sdk.h"
#include "jvmti/session.h"
#include "jvmti/snapshot_thread.h"
#include "jvmti/threads.h"
#include "jvmti/virtual.h"
#include "options/environment.h"
#include "options/printable.h"
#include "options/request.h"
#include "options/settings.h"
#include "record/buffer.h"
#include "record/lock_names.h"
#include "record/pauses.h"
#include "record/stacks.h"
#include "record/sums.h"
#include "send/control.h"
#include "send/sender.h"
#include "wire/clock.h"

static struct weft_options options;

// Guards the beginning and end of sessions: an attach and JVM exit may coincide.
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
#define DEATH_PATIENCE ((int64_t)1000000000)
enum { LOCAL_REFERENCES = 32 };
static bool loaded;  // JVMTI is available
static bool ready;   // one-time setup is done
static bool dead;    // the JVM is exiting
static bool refused; // the options of -agentpath are invalid, or the JVM is not supported
static enum weft_answer_origin origin; // of the options in effect

// On any failure the JVM continues, without tracing if necessary.
static void give_up(const char *why) {
    char shown[2 * WEFT_PROBLEM_MAX];
    fprintf(stderr, "weft: %s; the JVM runs without tracing\n",
            weft_printable_text(why, shown, sizeof shown));
}

static void warn(const char *text) {
    char shown[2 * WEFT_PROBLEM_MAX];
    if (text != NULL && text[0] != '\0') {
        fprintf(stderr, "weft: %s\n", weft_printable_text(text, shown, sizeof shown));
    }
}

// One-time setup before the first session.
static bool make_ready(JNIEnv *env, jthread thread, const char **warning,
                       char problem[WEFT_PROBLEM_MAX]) {
    if (ready) {
        return true;
    }
    if (!weft_jvm_init(env)) {
        snprintf(problem, WEFT_PROBLEM_MAX, "unsupported JVM: cannot read java.lang.Thread");
        return false;
    }
    if (!weft_pool_init(options.pool) || !weft_sums_init(options.series)) {
        snprintf(problem, WEFT_PROBLEM_MAX, "no memory for events; reduce pool or series");
        return false;
    }
    weft_listing_init(env, thread);
    weft_owner_init(env, thread);
    weft_initializing_init(env, thread);
    weft_at_monitor_init(env, thread);
    weft_owner_note(weft_jvm.version);
    weft_stacks_init(env, thread);
    weft_monitors_init(env);
    weft_joins_init(env);
    weft_parks_init(env);
    weft_snapshot_thread_init();
    if (!weft_hooks_install(env)) {
        *warning = "some of notify, start, sleep, interrupt and park are not recorded on this JVM";
    }
    ready = true;
    return true;
}

// Ends a session from the inside, unless the JVM or an attach was faster.
static void leave(uint64_t session) {
    pthread_mutex_lock(&life);
    if (!dead && weft_session_number() == session) {
        weft_session_end(WEFT_END_DETACHED);
    }
    pthread_mutex_unlock(&life);
}

static void JNICALL on_vm_init(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    char problem[WEFT_PROBLEM_MAX] = "";
    const char *warning = NULL;
    pthread_mutex_lock(&life);
    bool ok = weft_session_runs() || // an attach was faster
              (make_ready(env, thread, &warning, problem) &&
               weft_session_begin(env, &options, leave, problem));
    pthread_mutex_unlock(&life);
    warn(warning);
    if (!ok) {
        give_up(problem);
        return;
    }
    warn(problem);
    // HotSpot reports the start of this thread only now.
    weft_threads_on_start(ti, env, thread);
}

// HotSpot allows no call of JNI in these.
static void JNICALL on_collection(jvmtiEnv *ti) {
    (void)ti;
    weft_pauses_begin();
}

static void JNICALL on_collected(jvmtiEnv *ti) {
    (void)ti;
    weft_pauses_end();
}

// An attach in progress runs Java code, which may hang; the JVM must exit anyway.
static void JNICALL on_vm_death(jvmtiEnv *ti, JNIEnv *env) {
    (void)ti;
    (void)env;
    if (!weft_clock_lock(&life, weft_clock() + DEATH_PATIENCE)) {
        weft_settings_record(false);
        return;
    }
    dead = true;
    weft_session_end(WEFT_END_EXIT);
    pthread_mutex_unlock(&life);
}

static bool enable(jvmtiEnv *ti, jvmtiEvent event) {
    return (*ti)->SetEventNotificationMode(ti, JVMTI_ENABLE, event, NULL) == JVMTI_ERROR_NONE;
}

// Gets the JVMTI environment, once.
static bool load(JavaVM *vm) {
    jvmtiCapabilities capabilities = {
        .can_generate_monitor_events = 1,
        .can_generate_garbage_collection_events = 1,
        .can_get_monitor_info = 1,
        .can_get_line_numbers = 1,
        .can_get_source_file_name = 1,
    };
    jvmtiEventCallbacks callbacks = {
        .VMInit = on_vm_init,
        .VMDeath = on_vm_death,
        .ThreadStart = weft_threads_on_start,
        .ThreadEnd = weft_threads_on_end,
        .MonitorContendedEnter = weft_monitors_on_contended_enter,
        .MonitorContendedEntered = weft_monitors_on_contended_entered,
        .MonitorWait = weft_monitors_on_wait,
        .MonitorWaited = weft_monitors_on_waited,
        .ClassPrepare = weft_jvm_on_class_prepare,
        .GarbageCollectionStart = on_collection,
        .GarbageCollectionFinish = on_collected,
    };
    if (loaded) {
        return true;
    }
    if ((*vm)->GetEnv(vm, (void **)&weft_jvm.ti, JVMTI_VERSION_1_2) != JNI_OK) {
        return false;
    }
    jvmtiEnv *ti = weft_jvm.ti;
    loaded = (*ti)->AddCapabilities(ti, &capabilities) == JVMTI_ERROR_NONE &&
             weft_virtual_set_callbacks(ti, &callbacks) && enable(ti, JVMTI_EVENT_VM_DEATH);
    if (loaded) {
        weft_lock_names_init(ti);
    }
    weft_jvm.vm = vm;
    return loaded;
}

jint weft_agent_load(JavaVM *vm, char *text, void *reserved) {
    char problem[WEFT_PROBLEM_MAX];
    (void)reserved;
    if (loaded) {
        fputs("weft: the agent is already loaded; the options of the second copy are ignored\n",
              stderr);
        return JNI_OK;
    }
    if (!weft_options_parse(text, &options, problem)) {
        refused = true;
        give_up(problem);
        return JNI_OK;
    }
    if (!load(vm) || !enable(weft_jvm.ti, JVMTI_EVENT_VM_INIT)) {
        refused = true;
        give_up("this JVM does not support JVMTI monitor events");
    }
    return JNI_OK;
}

// Begins a session in a running JVM.
static bool begin(JavaVM *vm, const struct weft_options *wanted, char problem[WEFT_PROBLEM_MAX]) {
    JNIEnv *env = NULL;
    jthread thread = NULL;
    const char *warning = NULL;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK || !load(vm)) {
        snprintf(problem, WEFT_PROBLEM_MAX, "this JVM does not support JVMTI monitor events");
        return false;
    }
    // The JVM's attach thread never frees local references.
    if ((*env)->PushLocalFrame(env, LOCAL_REFERENCES) != JNI_OK ||
        (*weft_jvm.ti)->GetCurrentThread(weft_jvm.ti, &thread) != JVMTI_ERROR_NONE) {
        weft_jvm_clear_exception(env);
        snprintf(problem, WEFT_PROBLEM_MAX, "the JVM has no memory left to attach");
        return false;
    }
    options = *wanted;
    weft_sdk_look(env);
    bool ok = make_ready(env, thread, &warning, problem) &&
              weft_session_begin(env, &options, leave, problem);
    if (ok) {
        if (!options.pause && !options.aggregated) { // otherwise events are not wanted
            weft_snapshot_thread_take(env);
        }
        if (warning != NULL) {
            snprintf(problem, WEFT_PROBLEM_MAX, "%s", warning);
        }
    }
    (*env)->PopLocalFrame(env, NULL);
    return ok;
}

static bool attach(JavaVM *vm, const char *text, char problem[WEFT_PROBLEM_MAX]) {
    struct weft_options wanted;
    if (!weft_options_parse(text, &wanted, problem)) {
        return false;
    }
    if (wanted.detach || wanted.status) {
        return true; // no session to end or describe
    }
    origin = WEFT_ANSWER_GIVEN;
    return begin(vm, &wanted, problem);
}

// Changes the options of a running session, or ends it.
static bool attach_again(const char *text, char problem[WEFT_PROBLEM_MAX]) {
    bool detach;
    if (!weft_control_attach(text, &detach, problem)) {
        return false;
    }
    if (detach) {
        weft_session_end(WEFT_END_DETACHED);
    }
    return true;
}

jint weft_agent_attach(JavaVM *vm, char *text, void *reserved) {
    char problem[WEFT_PROBLEM_MAX] = "";
    struct weft_request request;
    (void)reserved;
    pthread_mutex_lock(&life);
    bool ok = weft_request_take(&request, text, problem);
    if (!ok) {
        // The answer says why, if one is possible.
    } else if (dead) {
        ok = false;
        snprintf(problem, sizeof problem, "the JVM is shutting down");
    } else if (weft_session_runs()) {
        ok = attach_again(request.options, problem);
    } else {
        ok = attach(vm, request.options, problem);
    }
    if (request.answer >= 0) {
        weft_answer_write(vm, request.answer, ok, problem, origin);
    }
    pthread_mutex_unlock(&life);
    return ok ? JNI_OK : JNI_ERR;
}

// Whoever holds the lock may run Java code that waits for a class which this thread initializes, so
// this thread does not wait for it.
enum weft_agent_outcome weft_agent_start(JavaVM *vm, char text[WEFT_PROBLEM_MAX]) {
    struct weft_options wanted;
    enum weft_agent_outcome result = WEFT_AGENT_FAILED;
    if (pthread_mutex_trylock(&life) != 0) {
        return WEFT_AGENT_PRESENT;
    }
    if (refused) {
        snprintf(text, WEFT_PROBLEM_MAX, "-agentpath has failed; see standard error");
    } else if (loaded || dead) {
        result = WEFT_AGENT_PRESENT;
        if (origin == WEFT_ANSWER_GIVEN && weft_environment_given()) {
            origin = WEFT_ANSWER_ENVIRONMENT_IGNORED;
        }
    } else if (weft_environment_parse(&wanted, text) && begin(vm, &wanted, text)) {
        result = WEFT_AGENT_STARTED;
        origin = WEFT_ANSWER_ENVIRONMENT;
    }
    pthread_mutex_unlock(&life);
    return result;
}
