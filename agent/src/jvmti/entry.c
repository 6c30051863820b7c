// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the library: -agentpath, an attach, and weft-otel.jar, which loads it like any
// library with native methods. The first copy of the library acts for all.
//
// The jar calls a native method rather than leaving the start to JNI_OnLoad: there, the thread
// would hold the JDK's lock of native libraries, and the agent may run Java code that waits for
// another thread which loads one.

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hotspot/jvm.h"
#include "jvmti/agent.h"
#include "jvmti/copies.h"
#include "jvmti/natives.h"

#define PACKAGE "io/github/weftotel/context/"
#define STRING  "Ljava/lang/String;"

#define METHOD(name, signature, function)                                                          \
    { (char *)(uintptr_t)(name), (char *)(uintptr_t)(signature), (void *)(function) }

static const JNINativeMethod of_agent[] = {
    METHOD("changed", "(JJJ)Z", Java_io_github_weftotel_context_Agent_changed),
    METHOD("ended", "(" STRING ")V", Java_io_github_weftotel_context_Agent_ended),
    METHOD("current", "(JJJ)V", Java_io_github_weftotel_context_Agent_current),
};
static const JNINativeMethod of_identity[] = {
    METHOD("sdk", "(" STRING STRING ")V", Java_io_github_weftotel_context_Identity_sdk),
    METHOD("service", "()" STRING, Java_io_github_weftotel_context_Identity_service),
    METHOD("instance", "()" STRING, Java_io_github_weftotel_context_Identity_instance),
};

// Without them, spans are not reported.
static void bind(JNIEnv *env, const char *name, const JNINativeMethod *methods, size_t count) {
    jclass class = (*env)->FindClass(env, name);
    if (class != NULL) {
        (*env)->RegisterNatives(env, class, methods, (jint)count);
        (*env)->DeleteLocalRef(env, class);
    }
    weft_jvm_clear_exception(env);
}

static void fail(JNIEnv *env, const char *why) {
    jclass class = (*env)->FindClass(env, "java/lang/IllegalStateException");
    if (class != NULL) {
        (*env)->ThrowNew(env, class, why);
    }
}

// The text as all encodings have it.
static void make_ascii(char *text) {
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text >= 0x80) {
            *text = '?';
        }
    }
}

// Start.java describes the result.
static jstring begin(JNIEnv *env, bool another) {
    char text[WEFT_PROBLEM_MAX] = "";
    JavaVM *vm = NULL;
    if ((*env)->GetJavaVM(env, &vm) != JNI_OK) {
        return NULL;
    }
    if (another) {
        bind(env, PACKAGE "Agent", of_agent, sizeof of_agent / sizeof of_agent[0]);
        bind(env, PACKAGE "Identity", of_identity, sizeof of_identity / sizeof of_identity[0]);
    }
    enum weft_agent_outcome result = weft_agent_start(vm, text);
    make_ascii(text);
    if (result == WEFT_AGENT_FAILED) {
        fail(env, text);
    }
    return result == WEFT_AGENT_STARTED ? (*env)->NewStringUTF(env, text) : NULL;
}

__attribute__((visibility("hidden"))) const struct weft_copies_calls weft_copies_calls = {
    .load = weft_agent_load,
    .attach = weft_agent_attach,
    .begin = begin,
};

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved) {
    return weft_copies_first()->load(vm, text, reserved);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved) {
    return weft_copies_first()->attach(vm, text, reserved);
}

JNIEXPORT jstring JNICALL Java_io_github_weftotel_context_Start_begin(JNIEnv *env, jclass class) {
    const struct weft_copies_calls *first = weft_copies_first();
    (void)class;
    return first->begin(env, first != &weft_copies_calls);
}
