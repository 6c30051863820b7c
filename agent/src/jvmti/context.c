// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current span of a thread. The application calls a native method of a class on its class path
// (otel/); the JVM finds it here by name.

#include <jni.h>
#include <stddef.h>

#include "jvmti/natives.h"
#include "record/context.h"
#include "record/request_names.h"

// Characters of a name that are kept, and their bytes in the JVM's UTF-8.
enum { NAME_MAX_CHARACTERS = 200, NAME_SIZE = NAME_MAX_CHARACTERS * 3 + 1 };

// All 0: no current span. True: Agent.ended has to follow, as Agent.java describes.
JNIEXPORT jboolean JNICALL Java_io_github_weftotel_context_Agent_changed(JNIEnv *env, jclass class,
                                                                         jlong trace_high,
                                                                         jlong trace_low,
                                                                         jlong span) {
    struct weft_span current = {(uint64_t)trace_high, (uint64_t)trace_low, (uint64_t)span};
    (void)class;
    return weft_context_change(env, &current) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_ended(JNIEnv *env, jclass class,
                                                                   jstring name) {
    char text[NAME_SIZE] = "";
    (void)class;
    if (name != NULL) {
        jsize length = (*env)->GetStringLength(env, name);
        length = length < NAME_MAX_CHARACTERS ? length : NAME_MAX_CHARACTERS;
        (*env)->GetStringUTFRegion(env, name, 0, length, text);
    }
    weft_context_end(env, text[0] == '\0' ? 0 : weft_request_names_id(text));
}

// For older versions of Agent.java.
JNIEXPORT void JNICALL Java_io_github_weftotel_context_Agent_current(JNIEnv *env, jclass class,
                                                                     jlong trace_high,
                                                                     jlong trace_low, jlong span) {
    if (Java_io_github_weftotel_context_Agent_changed(env, class, trace_high, trace_low, span)) {
        weft_context_end(env, 0);
    }
}
