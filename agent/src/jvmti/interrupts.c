// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/interrupts.h"

#include "hotspot/jvm.h"
#include "options/settings.h"
#include "record/record.h"
#include "record/self.h"

static void (*jvm_interrupt)(JNIEnv *, jobject);
static void (*jvm_fill_in_stack_trace)(JNIEnv *, jobject);
static void (*jvm_clear_interrupt_event)(JNIEnv *, jclass);

// Skips carriers: the JVM interrupts the carrier of an interrupted virtual thread, and one that
// mounts a thread with its flag set.
static void JNICALL hook_interrupt(JNIEnv *env, jobject thread) {
    struct weft_scope scope;
    if (!weft_settings_wanted(WEFT_EV_INTERRUPT_CALLED) || weft_jvm_is_carrier(env, thread) ||
        !weft_self_enter(env, NULL, &scope)) {
        jvm_interrupt(env, thread);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_INTERRUPT_CALLED,
                            .peer = weft_jvm_thread_id(env, thread)};
    r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
    weft_record_begin(&scope, &r);
    weft_self_leave(&scope);
    jvm_interrupt(env, thread);
    weft_record_end(&scope, &r, !(*env)->ExceptionCheck(env));
}

static void noticed(JNIEnv *env, uint16_t flags) {
    struct weft_scope scope;
    if (!weft_settings_wanted(WEFT_EV_INTERRUPTED) || !weft_self_enter(env, NULL, &scope)) {
        return;
    }
    if (!scope.self->carrier || scope.subject != 0) {
        struct weft_record r = {.kind = WEFT_EV_INTERRUPTED, .flags = flags};
        r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
        weft_record_now(&scope, &r);
    }
    weft_self_leave(&scope);
}

// Throwable.fillInStackTrace, called by the constructor of each exception.
static jobject JNICALL hook_fill_in_stack_trace(JNIEnv *env, jobject throwable, jint dummy) {
    (void)dummy;
    jvm_fill_in_stack_trace(env, throwable);
    if (!(*env)->ExceptionCheck(env) && weft_jvm_is_a(env, throwable, &weft_jvm.interrupted)) {
        noticed(env, WEFT_FLAG_INTERRUPTED);
    }
    return throwable;
}

// Called by Thread.interrupted() of 14 and later if the flag was set.
static void JNICALL hook_clear_interrupt_event(JNIEnv *env, jclass class) {
    jvm_clear_interrupt_event(env, class);
    noticed(env, 0);
}

const struct weft_hook weft_interrupt_hooks[] = {
    {"java/lang/Thread", "interrupt0", "()V", false, "JVM_Interrupt", (void *)hook_interrupt,
     (void **)&jvm_interrupt, 0, 0},
    {"java/lang/Throwable", "fillInStackTrace", "(I)Ljava/lang/Throwable;", false,
     "JVM_FillInStackTrace", (void *)hook_fill_in_stack_trace, (void **)&jvm_fill_in_stack_trace, 0,
     0},
    {"java/lang/Thread", "clearInterruptEvent", "()V", true,
     "Java_java_lang_Thread_clearInterruptEvent", (void *)hook_clear_interrupt_event,
     (void **)&jvm_clear_interrupt_event, 14, 0},
    {0},
};
