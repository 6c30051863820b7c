// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current span of a thread. The application calls a native method of a class on its class path
// (otel/); the JVM finds it here by name.

#include <jni.h>

#include "options/settings.h"
#include "record/record.h"
#include "record/self.h"

JNIEXPORT jboolean JNICALL Java_io_github_weftotel_context_Agent_changed(JNIEnv *env, jclass class,
                                                                         jlong trace_high,
                                                                         jlong trace_low,
                                                                         jlong span);
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_current(JNIEnv *env, jclass class,
                                                                     jlong trace_high,
                                                                     jlong trace_low, jlong span);

// All 0: no current span. True: Agent.ended has to follow, as Agent.java describes.
JNIEXPORT jboolean JNICALL Java_io_github_weftotel_context_Agent_changed(JNIEnv *env, jclass class,
                                                                         jlong trace_high,
                                                                         jlong trace_low,
                                                                         jlong span) {
    struct weft_scope scope;
    (void)class;
    if (weft_settings_wanted(WEFT_EV_CONTEXT) && weft_self_enter(env, NULL, &scope)) {
        struct weft_record r = {
            .kind = WEFT_EV_CONTEXT,
            .peer = (uint64_t)trace_high,
            .arg = trace_low,
            .hash = (uint32_t)((uint64_t)span >> 32),
            .class_id = (uint32_t)span,
        };
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
    return JNI_FALSE;
}

// For older versions of Agent.java.
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_current(JNIEnv *env, jclass class,
                                                                     jlong trace_high,
                                                                     jlong trace_low, jlong span) {
    Java_io_github_weftotel_context_Agent_changed(env, class, trace_high, trace_low, span);
}
