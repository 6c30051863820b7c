// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens to threads? See threads.h.

#include "threads.h"

#include "jvm.h"
#include "roster.h"
#include "self.h"
#include "stacks.h"
#include "timeout.h"

static int depth;

static void (*jvm_start)(JNIEnv *, jobject);
static void (*jvm_interrupt)(JNIEnv *, jobject);
static void (*jvm_sleep)(JNIEnv *, jclass, jlong);

void weft_threads_init(const struct weft_options *options) {
    depth = options->depth;
}

void JNICALL weft_on_thread_start(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    struct weft_scope scope;
    (void)ti;
    if (weft_self_start(env, thread, &scope)) {
        struct weft_record r = {.kind = WEFT_EV_THREAD_START};
        weft_record_now(&scope, &r);
        weft_leave(&scope);
    }
}

void JNICALL weft_on_thread_end(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    struct weft_scope scope;
    (void)ti;
    if (weft_enter(env, thread, &scope)) {
        struct weft_record r = {.kind = WEFT_EV_THREAD_END};
        weft_record_now(&scope, &r);
        weft_self_end(&scope);
        weft_leave(&scope);
    }
}

static void JNICALL hook_start(JNIEnv *env, jobject thread) {
    struct weft_scope scope;
    if (!weft_enter(env, NULL, &scope)) {
        jvm_start(env, thread);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_START_CALLED, .peer = weft_thread_id(env, thread)};
    // The receiver hears of this call before, or after, the new thread speaks for itself.
    weft_announce(env, thread, r.peer, false);
    r.stack = weft_stack_id(env, depth);
    weft_record_begin(&scope, &r);
    weft_leave(&scope);
    jvm_start(env, thread);
    bool started = !(*env)->ExceptionCheck(env);
    weft_record_end(&scope, &r, started);
    if (!started) {
        weft_roster_withdraw(r.peer);
    }
}

static void JNICALL hook_interrupt(JNIEnv *env, jobject thread) {
    struct weft_scope scope;
    if (!weft_enter(env, NULL, &scope)) {
        jvm_interrupt(env, thread);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_INTERRUPT_CALLED, .peer = weft_thread_id(env, thread)};
    r.stack = weft_stack_id(env, depth);
    weft_record_begin(&scope, &r);
    weft_leave(&scope);
    jvm_interrupt(env, thread);
    weft_record_end(&scope, &r, !(*env)->ExceptionCheck(env));
}

static bool record_sleep(JNIEnv *env, struct weft_record *r) {
    struct weft_scope scope;
    if (!weft_enter(env, NULL, &scope)) {
        return false;
    }
    if (r->kind == WEFT_EV_SLEEP_START) {
        r->stack = weft_stack_id(env, depth);
    }
    weft_record_now(&scope, r);
    weft_leave(&scope);
    return true;
}

static void sleep_for(JNIEnv *env, jclass class, jlong argument, int64_t nanoseconds) {
    struct weft_record start = {.kind = WEFT_EV_SLEEP_START, .arg = nanoseconds};
    struct weft_record end = {.kind = WEFT_EV_SLEEP_END};
    if (argument < 0 || !record_sleep(env, &start)) {
        jvm_sleep(env, class, argument); // a negative time throws
        return;
    }
    jvm_sleep(env, class, argument);
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    if (thrown != NULL) {
        (*env)->ExceptionClear(env);
        if ((*env)->IsInstanceOf(env, thrown, weft_jvm.interrupted)) {
            end.flags = WEFT_FLAG_INTERRUPTED;
        }
    }
    record_sleep(env, &end);
    if (thrown != NULL) {
        (*env)->Throw(env, thrown);
        (*env)->DeleteLocalRef(env, thrown);
    }
}

static void JNICALL hook_sleep_millis(JNIEnv *env, jclass class, jlong millis) {
    sleep_for(env, class, millis, weft_nanoseconds(millis));
}

static void JNICALL hook_sleep_nanos(JNIEnv *env, jclass class, jlong nanoseconds) {
    sleep_for(env, class, nanoseconds, nanoseconds);
}

// A row for each spelling that some Java version has as a native method: sleep up to 18, sleep0 in
// 19 to 22, sleepNanos0 later.
const struct weft_hook weft_thread_hooks[] = {
    {"java/lang/Thread", "start0", "()V", false, "JVM_StartThread", (void *)hook_start,
     (void **)&jvm_start},
    {"java/lang/Thread", "interrupt0", "()V", false, "JVM_Interrupt", (void *)hook_interrupt,
     (void **)&jvm_interrupt},
    {"java/lang/Thread", "sleep", "(J)V", true, "JVM_Sleep", (void *)hook_sleep_millis,
     (void **)&jvm_sleep},
    {"java/lang/Thread", "sleep0", "(J)V", true, "JVM_Sleep", (void *)hook_sleep_nanos,
     (void **)&jvm_sleep},
    {"java/lang/Thread", "sleepNanos0", "(J)V", true, "JVM_SleepNanos", (void *)hook_sleep_nanos,
     (void **)&jvm_sleep},
    {0},
};
