// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/wakes.h"

#include <stdint.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "options/settings.h"
#include "record/record.h"
#include "record/self.h"
#include "record/thread_info.h"

// From this version on a stack of a virtual thread is safe in all places where it wakes others.
// Before, it may hold a lock of the thread that it interrupts, for which that thread waits within
// a change of its carrier, and JVMTI waits for the end of that change.
enum { SAFE_STACKS = 24 };

// The thread whose tasks unpark virtual threads when their time is over, before parkTimeoutExpired
// existed.
static const char timer_name[] = "VirtualThread-unparker";

// Whether the current platform thread is that one.
static bool is_timer(void) {
    static __thread enum { UNKNOWN, OTHER, TIMER } who;
    if (who == UNKNOWN) {
        jvmtiThreadInfo info;
        if ((*weft_jvm.ti)->GetThreadInfo(weft_jvm.ti, NULL, &info) != JVMTI_ERROR_NONE) {
            return false;
        }
        // It has no later name. References to its group and loader are freed with the frame.
        who = strncmp(info.name, timer_name, sizeof timer_name - 1) == 0 ? TIMER : OTHER;
        weft_jvm_deallocate(info.name);
    }
    return who == TIMER;
}

// A carrier without a thread is between two of them: it has no stack that anyone knows.
static uint32_t stack(const struct weft_scope *scope, JNIEnv *env, enum weft_place place) {
    if (scope->subject == 0 ? scope->self->carrier : weft_jvm.version < SAFE_STACKS) {
        return 0;
    }
    return weft_record_stack(scope, env, weft_settings_depth(place));
}

// Takes the time last, right before the thread is made ready.
static void record(JNIEnv *env, jobject thread, struct weft_record *r, enum weft_place place) {
    struct weft_scope scope;
    if (!weft_settings_wanted(r->kind) || !weft_self_enter(env, NULL, &scope)) {
        return;
    }
    r->peer = weft_jvm_thread_id(env, thread);
    if (r->peer != (scope.subject == 0 ? scope.self->thread : scope.subject)) {
        if (r->kind == WEFT_EV_START_CALLED) {
            weft_thread_info_announce(env, thread, r->peer, true);
        }
        if (r->kind == WEFT_EV_UNPARK && scope.subject == 0 && !scope.self->carrier && is_timer()) {
            r->flags |= WEFT_FLAG_TIMED_OUT;
        }
        r->flags |= WEFT_FLAG_VIRTUAL_PEER;
        r->stack = (r->flags & WEFT_FLAG_TIMED_OUT) != 0 ? 0 : stack(&scope, env, place);
        weft_record_now(&scope, r);
    }
    weft_self_leave(&scope);
}

static void JNICALL unparked(JNIEnv *env, jclass probe, jobject thread) {
    struct weft_record r = {.kind = WEFT_EV_UNPARK};
    (void)probe;
    record(env, thread, &r, WEFT_PLACE_UNPARK);
}

static void JNICALL expired(JNIEnv *env, jclass probe, jobject thread) {
    struct weft_record r = {.kind = WEFT_EV_UNPARK, .flags = WEFT_FLAG_TIMED_OUT};
    (void)probe;
    record(env, thread, &r, WEFT_PLACE_UNPARK);
}

static void JNICALL started(JNIEnv *env, jclass probe, jobject thread) {
    struct weft_record r = {.kind = WEFT_EV_START_CALLED};
    (void)probe;
    record(env, thread, &r, WEFT_PLACE_BLOCK);
}

static void JNICALL interrupted(JNIEnv *env, jclass probe, jobject thread) {
    struct weft_record r = {.kind = WEFT_EV_INTERRUPT_CALLED};
    (void)probe;
    record(env, thread, &r, WEFT_PLACE_BLOCK);
}

static bool bound;

void weft_wakes_bind(JNIEnv *env, jclass probe) {
    static char signature[] = "(Ljava/lang/Thread;)V";
    static char names[][sizeof "interrupted"] = {"unparked", "expired", "started", "interrupted"};
    const JNINativeMethod methods[] = {{names[0], signature, (void *)unparked},
                                       {names[1], signature, (void *)expired},
                                       {names[2], signature, (void *)started},
                                       {names[3], signature, (void *)interrupted}};
    bound = (*env)->RegisterNatives(env, probe, methods, sizeof methods / sizeof methods[0]) == 0;
    weft_jvm_clear_exception(env);
}

bool weft_wakes_bound(void) {
    return bound;
}
