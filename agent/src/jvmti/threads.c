// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/threads.h"

#include "hotspot/jvm.h"
#include "hotspot/listing.h"
#include "hotspot/owner.h"
#include "hotspot/walk_cache.h"
#include "jvmti/timeout.h"
#include "options/settings.h"
#include "record/object_cache.h"
#include "record/record.h"
#include "record/roster.h"
#include "record/self.h"
#include "record/thread_info.h"
#include "record/thread_refs.h"

static void (*jvm_start)(JNIEnv *, jobject);
static void (*jvm_sleep)(JNIEnv *, jclass, jlong);
static void (*jvm_yield)(JNIEnv *, jclass);
static void (*jvm_suspend)(JNIEnv *, jobject);
static void (*jvm_resume)(JNIEnv *, jobject);
static void (*jvm_stop)(JNIEnv *, jobject, jobject);
static void (*jvm_set_name)(JNIEnv *, jobject, jstring);

void JNICALL weft_threads_on_start(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    struct weft_scope scope;
    (void)ti;
    weft_listing_start(env, thread);
    if (weft_self_start(env, thread, &scope)) {
        struct weft_record r = {.kind = WEFT_EV_THREAD_START};
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
}

void JNICALL weft_threads_on_end(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    struct weft_scope scope;
    uint64_t id = weft_jvm_thread_id(env, thread);
    (void)ti;
    weft_listing_end(env);
    if (weft_self_enter(env, thread, &scope)) {
        struct weft_record r = {.kind = WEFT_EV_THREAD_END};
        weft_self_refresh_name(env, thread, &scope);
        weft_record_now(&scope, &r);
        weft_self_end(&scope);
        weft_self_leave(&scope);
    } else {
        weft_self_vanish(env, id);
    }
    weft_self_context_end(id);
    weft_object_cache_free(env);
    weft_walk_cache_free();
    // Last: a thread may be seen for the first time when it ends.
    weft_thread_refs_remove(env, id);
}

static void JNICALL hook_start(JNIEnv *env, jobject thread) {
    struct weft_scope scope;
    if (!weft_settings_wanted(WEFT_EV_START_CALLED) || !weft_self_enter(env, NULL, &scope)) {
        jvm_start(env, thread);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_START_CALLED, .peer = weft_jvm_thread_id(env, thread)};
    if (!scope.self->carrier) {
        weft_owner_holds(thread, scope.self->thread); // Thread.start synchronizes on it
    }
    // The announcement precedes this event, and may precede or follow that of the new thread
    // itself.
    weft_thread_info_announce(env, thread, r.peer, false);
    r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
    weft_record_begin(&scope, &r);
    weft_self_leave(&scope);
    jvm_start(env, thread);
    bool started = !(*env)->ExceptionCheck(env);
    weft_record_end(&scope, &r, started);
    if (!started) {
        weft_roster_withdraw(r.peer);
    }
}

static bool record_sleep(JNIEnv *env, struct weft_record *r) {
    struct weft_scope scope;
    if (!weft_self_enter(env, NULL, &scope)) {
        return false;
    }
    if (r->kind == WEFT_EV_SLEEP_START) {
        weft_self_refresh_name(env, NULL, &scope);
        r->stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
    }
    weft_record_now(&scope, r);
    weft_self_leave(&scope);
    return true;
}

static void sleep_for(JNIEnv *env, jclass class, jlong argument, int64_t nanoseconds) {
    struct weft_record start = {.kind = WEFT_EV_SLEEP_START, .arg = nanoseconds};
    struct weft_record end = {.kind = WEFT_EV_SLEEP_END};
    if (argument < 0 || !weft_settings_wanted(start.kind) || !record_sleep(env, &start)) {
        jvm_sleep(env, class, argument); // negative times throw
        return;
    }
    jvm_sleep(env, class, argument);
    bool interrupted;
    jthrowable thrown = weft_jvm_take_exception(env, &interrupted);
    end.flags = interrupted ? WEFT_FLAG_INTERRUPTED : 0;
    record_sleep(env, &end);
    weft_jvm_throw_again(env, thrown);
}

static void JNICALL hook_sleep_millis(JNIEnv *env, jclass class, jlong millis) {
    sleep_for(env, class, millis, weft_timeout_nanoseconds(millis));
}

static void JNICALL hook_sleep_nanos(JNIEnv *env, jclass class, jlong nanoseconds) {
    sleep_for(env, class, nanoseconds, nanoseconds);
}

// Milliseconds in 19 and 20, nanoseconds later.
static void JNICALL hook_sleep0(JNIEnv *env, jclass class, jlong time) {
    if ((*env)->GetVersion(env) < 0x00150000) { // 21
        hook_sleep_millis(env, class, time);
    } else {
        hook_sleep_nanos(env, class, time);
    }
}

static void JNICALL hook_yield(JNIEnv *env, jclass class) {
    if (weft_settings_wanted(WEFT_EV_YIELD)) {
        weft_record_event(env, NULL, WEFT_EV_YIELD);
    }
    jvm_yield(env, class);
}

// Records suspend, resume and stop before the call: a thread that suspends itself does not return,
// and its open record would hold the watermark back.
static void record_order(JNIEnv *env, jobject thread, uint16_t kind) {
    struct weft_scope scope;
    if (weft_self_enter(env, NULL, &scope)) {
        struct weft_record r = {.kind = kind, .peer = weft_jvm_thread_id(env, thread)};
        r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
}

static void JNICALL hook_suspend(JNIEnv *env, jobject thread) {
    record_order(env, thread, WEFT_EV_SUSPEND);
    jvm_suspend(env, thread);
}

static void JNICALL hook_resume(JNIEnv *env, jobject thread) {
    record_order(env, thread, WEFT_EV_RESUME);
    jvm_resume(env, thread);
}

static void JNICALL hook_stop(JNIEnv *env, jobject thread, jobject throwable) {
    record_order(env, thread, WEFT_EV_STOP);
    jvm_stop(env, thread, throwable);
}

// Thread.setName gets here if the thread is alive; from 20 on only if it names itself.
static void JNICALL hook_set_name(JNIEnv *env, jobject thread, jstring name) {
    struct weft_scope scope;
    jvm_set_name(env, thread, name);
    if (!(*env)->ExceptionCheck(env) && weft_self_enter(env, NULL, &scope)) {
        weft_self_renamed(env, thread, &scope);
        weft_self_leave(&scope);
    }
}

// One row for each name of the native method in any Java version: sleep up to 18, sleep0 in 19 to
// 22, sleepNanos0 later.
const struct weft_hook weft_thread_hooks[] = {
    {"java/lang/Thread", "start0", "()V", false, "JVM_StartThread", (void *)hook_start,
     (void **)&jvm_start, 0, 0},
    {"java/lang/Thread", "sleep", "(J)V", true, "JVM_Sleep", (void *)hook_sleep_millis,
     (void **)&jvm_sleep, 0, 0},
    {"java/lang/Thread", "sleep0", "(J)V", true, "JVM_Sleep", (void *)hook_sleep0,
     (void **)&jvm_sleep, 19, 22},
    {"java/lang/Thread", "sleepNanos0", "(J)V", true, "JVM_SleepNanos", (void *)hook_sleep_nanos,
     (void **)&jvm_sleep, 23, 0},
    {"java/lang/Thread", "setNativeName", "(Ljava/lang/String;)V", false, "JVM_SetNativeThreadName",
     (void *)hook_set_name, (void **)&jvm_set_name, 0, 0},
    {"java/lang/Thread", "suspend0", "()V", false, "JVM_SuspendThread", (void *)hook_suspend,
     (void **)&jvm_suspend, 0, 19},
    {"java/lang/Thread", "resume0", "()V", false, "JVM_ResumeThread", (void *)hook_resume,
     (void **)&jvm_resume, 0, 19},
    {"java/lang/Thread", "stop0", "(Ljava/lang/Object;)V", false, "JVM_StopThread",
     (void *)hook_stop, (void **)&jvm_stop, 0, 19},
    {0},
};

const struct weft_hook weft_yield_hooks[] = {
    {"java/lang/Thread", "yield", "()V", true, "JVM_Yield", (void *)hook_yield, (void **)&jvm_yield,
     0, 0},
    {"java/lang/Thread", "yield0", "()V", true, "JVM_Yield", (void *)hook_yield,
     (void **)&jvm_yield, 19, 0},
    {0},
};
