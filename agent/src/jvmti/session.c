// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hotspot/jvm.h"
#include "hotspot/listing.h"
#include "jvmti/calls.h"
#include "jvmti/describe.h"
#include "jvmti/exact.h"
#include "jvmti/leave.h"
#include "jvmti/running.h"
#include "jvmti/sdk.h"
#include "jvmti/snapshot_thread.h"
#include "jvmti/virtual.h"
#include "record/definitions.h"
#include "record/pauses.h"
#include "record/stacks.h"
#include "send/control.h"
#include "send/resource.h"
#include "send/sender.h"
#include "wire/clock.h"
#include "wire/peer.h"
#include "wire/places.h"
#include "wire/secret.h"

// Of the current or the last session.
static struct weft_options options;
static struct weft_resource resource;
static struct weft_credentials credentials;
static bool running;
static uint64_t number;
static void (*leave)(uint64_t session);

static const jvmtiEvent events[] = {
    JVMTI_EVENT_THREAD_START,
    JVMTI_EVENT_THREAD_END,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_CLASS_PREPARE,
    JVMTI_EVENT_GARBAGE_COLLECTION_START,
    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
};

static bool switch_event(jvmtiEventMode mode, jvmtiEvent event) {
    return (*weft_jvm.ti)->SetEventNotificationMode(weft_jvm.ti, mode, event, NULL) ==
           JVMTI_ERROR_NONE;
}

static bool switch_events(jvmtiEventMode mode) {
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        // Ending threads free their memory with or without a session.
        if (mode == JVMTI_DISABLE && events[i] == JVMTI_EVENT_THREAD_END) {
            continue;
        }
        if (!switch_event(mode, events[i])) {
            return false;
        }
    }
    return weft_virtual_switch(weft_jvm.ti, mode, options.virtual != WEFT_VIRTUAL_OFF);
}

// On the sender's thread, which alone reads the resource then.
static bool renew(const uint8_t before[16], const uint8_t session[16]) {
    return weft_sdk_renew(&resource, before, session);
}

// On the sender's thread.
static bool expired(uint64_t session) {
    return weft_leave_request(leave, session);
}

static bool start_sender(JNIEnv *env, char problem[WEFT_PROBLEM_MAX]) {
    struct weft_sender_config config = {.endpoint = options.endpoint,
                                        .credentials = &credentials,
                                        .retain = options.retain,
                                        .finish_ms = (int)(options.exit_wait / 1000000),
                                        .give_up = options.give_up,
                                        .duration = options.duration,
                                        .session = number,
                                        .expired = expired,
                                        .renewed = renew,
                                        .look = weft_snapshot_thread_look};
    if (options.file[0] != '\0') {
        config.file = options.file;
        config.file_size = options.file_size;
    }
    struct weft_hello *hello = &config.hello;
    weft_resource_free(&resource);
    weft_describe(env, &resource, options.service);
    weft_secret_draw(hello->secret, hello->session);
    weft_resource_add_session(&resource, hello->session);
    weft_sdk_begin(&resource, hello->session);
    struct weft_moment now = weft_clock_moment();
    hello->wall = now.wall;
    hello->monotonic = now.monotonic;
    hello->pid = (uint32_t)getpid();
    hello->attributes = resource.list;
    hello->attribute_count = resource.count;
    return weft_sender_start(&config, problem);
}

// Without the calls, virtual threads are recorded as without the option.
static void begin_exact(JNIEnv *env, char problem[WEFT_PROBLEM_MAX]) {
    char why[WEFT_EXACT_PROBLEM_MAX];
    if (options.virtual == WEFT_VIRTUAL_EXACT && !weft_exact_begin(env, why)) {
        options.virtual = WEFT_VIRTUAL_ON;
        snprintf(problem, WEFT_PROBLEM_MAX, "virtual=exact has the effect of virtual=on: %s", why);
    }
}

static void end_exact(void) {
    JNIEnv *env = NULL;
    if ((*weft_jvm.vm)->GetEnv(weft_jvm.vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK) {
        weft_exact_end(env);
    }
}

bool weft_session_begin(JNIEnv *env, const struct weft_options *wanted,
                        void (*on_leave)(uint64_t session), char problem[WEFT_PROBLEM_MAX]) {
    if (weft_sender_runs()) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "the previous session has not ended yet; attach again in a few seconds");
        return false;
    }
    options = *wanted;
    leave = on_leave;
    number++;
    if (!weft_credentials_init(&credentials, &options, problem)) {
        return false;
    }
    begin_exact(env, problem);
    weft_peer_allow(options.peer_user, options.peer_group);
    weft_places_look();
    weft_definitions_init(options.definitions);
    weft_control_prepare(&options, weft_snapshot_thread_request);
    if (!start_sender(env, problem)) {
        end_exact();
        return false;
    }
    weft_jvm_on_class_prepare(weft_jvm.ti, env, NULL, NULL); // some may have been added meanwhile
    weft_snapshot_thread_start();
    // From here on the end of each thread is reported. It must be before any of them is listed.
    if (switch_event(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END)) {
        weft_listing_add_known(env);
    }
    weft_control_begin();
    weft_pauses_start();
    running = true;
    if (!switch_events(JVMTI_ENABLE)) {
        snprintf(problem, WEFT_PROBLEM_MAX, "the JVM does not report thread and monitor events");
        weft_session_end(WEFT_END_DETACHED);
        return false;
    }
    weft_jvm_on_class_prepare(weft_jvm.ti, env, NULL, NULL); // since then
    if (options.virtual == WEFT_VIRTUAL_EXACT) {
        weft_running_start(); // without it, only running is missing
    }
    weft_calls_start();
    return true;
}

void weft_session_end(uint16_t reason) {
    if (!running) {
        return;
    }
    running = false;
    weft_control_end();
    weft_running_stop();
    weft_calls_stop();
    switch_events(JVMTI_DISABLE);
    weft_pauses_stop();
    if (reason != WEFT_END_EXIT) {
        end_exact();
    }
    weft_snapshot_thread_stop();
    weft_sender_finish(reason);
}

bool weft_session_runs(void) {
    return running;
}

uint64_t weft_session_number(void) {
    return number;
}
