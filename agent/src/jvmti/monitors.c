// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/monitors.h"

#include <dlfcn.h>

#include "hotspot/jvm.h"
#include "hotspot/owner.h"
#include "hotspot/vmstructs.h"
#include "jvmti/class_waits.h"
#include "jvmti/joins.h"
#include "jvmti/returns.h"
#include "jvmti/timeout.h"
#include "options/settings.h"
#include "record/context.h"
#include "record/identity.h"
#include "record/owner_stack.h"
#include "record/record.h"
#include "record/self.h"
#include "record/stay.h"

static void (*jvm_wait)(JNIEnv *, jobject, jlong);
static jboolean (*jvm_holds_lock)(JNIEnv *, jclass, jobject); // NULL: no check needed
static void (*jvm_notify)(JNIEnv *, jobject);
static void (*jvm_notify_all)(JNIEnv *, jobject);

void JNICALL weft_monitors_on_contended_enter(jvmtiEnv *ti, JNIEnv *env, jthread thread,
                                              jobject object) {
    struct weft_scope scope;
    (void)ti;
    if (!weft_self_enter(env, thread, &scope)) {
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_CONTENDED_ENTER};
    bool wanted = weft_settings_wanted(r.kind);
    uintptr_t monitor = 0;
    if (wanted) {
        weft_record_begin(&scope, &r); // the thread counts as blocked from here on
        weft_self_refresh_name(env, thread, &scope);
        bool unknown = false;
        if (!scope.aggregated) {
            r.peer = weft_owner(env, object, &unknown, &monitor); // valid only now
        }
        r.flags |= unknown ? WEFT_FLAG_OWNER_UNKNOWN : 0;
        weft_context_note_owner(&scope, &r);
        weft_identity_fill(env, object, &r, !scope.aggregated);
        wanted = weft_identity_class_wanted(r.class_id);
        if (wanted) {
            r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_BLOCK));
            weft_stay_begin(&scope.self->entering_stay, scope.subject, scope.self->unmounts);
        }
        weft_record_end(&scope, &r, wanted);
        if (wanted) {
            weft_owner_stack(env, &scope, &r);
        }
    }
    r.kind = wanted ? r.kind : WEFT_NOT_RECORDED;
    if (scope.subject == 0) {
        scope.self->entering = r;
        scope.self->entering_monitor = monitor;
        scope.self->entering_since = atomic_load_explicit(&weft_blackouts, memory_order_relaxed);
    }
    scope.self->returned = 0;
    weft_self_leave(&scope);
}

// The thread already owns the monitor: others wait for whatever happens here.
void JNICALL weft_monitors_on_contended_entered(jvmtiEnv *ti, JNIEnv *env, jthread thread,
                                                jobject object) {
    struct weft_scope scope;
    (void)ti;
    if (!weft_self_enter(env, thread, &scope)) {
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_CONTENDED_ENTERED};
    struct weft_record *entering = &scope.self->entering;
    bool recorded = weft_settings_wanted(r.kind); // even if the beginning was not seen
    if (scope.subject != 0 && scope.subject == scope.self->returned) {
        recorded = false; // its mount said so
        scope.self->returned = 0;
    } else if (scope.subject == 0 && entering->kind != 0 &&
               // Otherwise it may be another monitor's, whose end fell into a blackout.
               scope.self->entering_since ==
                   atomic_load_explicit(&weft_blackouts, memory_order_relaxed)) {
        if (!scope.self->carrier) { // which the JVM may take for the virtual thread it carries
            weft_owner_entered(scope.self->entering_monitor, scope.self->thread);
        }
        recorded = entering->kind != WEFT_NOT_RECORDED;
        r.hash = entering->hash;
        r.class_id = entering->class_id;
        entering->kind = 0;
    } else if (recorded) {
        weft_identity_fill(env, object, &r, true); // it may have begun in the other mode
        recorded = weft_identity_class_wanted(r.class_id);
    }
    if (weft_stay_end(&scope.self->entering_stay, scope.subject, scope.self->unmounts)) {
        r.flags |= WEFT_FLAG_PINNED;
    }
    if (recorded) {
        weft_record_now(&scope, &r);
    }
    weft_self_leave(&scope);
}

// Flags of `waiting` from the call of Object.wait until the JVM posts its event. FUTILE: the call
// will throw at once, so its event is not recorded. CALLED: the call has not returned.
enum { FUTILE = 0x4000, CALLED = 0x2000 };

void JNICALL weft_monitors_on_wait(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object,
                                   jlong millis) {
    struct weft_scope scope;
    (void)ti;
    if (!weft_self_enter(env, thread, &scope)) {
        return;
    }
    if ((scope.self->waiting.flags & FUTILE) != 0) {
        weft_self_leave(&scope);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_WAIT, .arg = weft_timeout_nanoseconds(millis)};
    enum weft_place place = WEFT_PLACE_WAIT;
    bool wanted = weft_settings_wanted(r.kind);
    if (wanted) {
        weft_self_refresh_name(env, thread, &scope);
        weft_identity_fill(env, object, &r, !scope.aggregated);
        if (weft_identity_is_a(env, object, r.class_id, WEFT_THREAD) && weft_joins(NULL)) {
            r.kind = WEFT_EV_JOIN_START;
            r.peer = weft_jvm_thread_id(env, object);
            place = WEFT_PLACE_BLOCK; // no thread contends for a Thread's monitor
        }
        wanted = weft_identity_class_wanted(r.class_id);
    }
    if (wanted) {
        r.stack = weft_record_stack(&scope, env, weft_settings_depth(place));
        weft_stay_begin(&scope.self->waiting_stay, scope.subject, scope.self->unmounts);
        weft_record_now(&scope, &r);
    } else {
        r.kind = WEFT_NOT_RECORDED;
    }
    scope.self->waiting = r;
    weft_self_leave(&scope);
}

// Whether HotSpot itself made a virtual thread wait, without a call of Object.wait. When a session
// starts, mounts may be posted before waits are, so a call may have no recorded beginning either.
static bool is_own_wait(const struct weft_scope *scope) {
    const struct weft_self *self = scope->self;
    return self->own_wait == scope->subject && (self->waiting.flags & CALLED) == 0 &&
           self->own_since == atomic_load_explicit(&weft_blackouts, memory_order_relaxed);
}

// The thread has left the wait set and does not own the monitor yet. HotSpot also reports the ends
// of its own waits; those have no beginning.
void JNICALL weft_monitors_on_waited(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object,
                                     jboolean timed_out) {
    struct weft_scope scope;
    (void)ti;
    if (!weft_self_enter(env, thread, &scope)) {
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_WAITED, .flags = timed_out ? WEFT_FLAG_TIMED_OUT : 0};
    const struct weft_record *waiting = &scope.self->waiting;
    if (weft_stay_end(&scope.self->waiting_stay, scope.subject, scope.self->unmounts)) {
        r.flags |= WEFT_FLAG_PINNED;
    }
    if (waiting->kind != 0 && waiting->kind != WEFT_NOT_RECORDED) {
        r.hash = waiting->hash;
        r.class_id = waiting->class_id;
        weft_record_now(&scope, &r);
    } else if (scope.subject == 0 && waiting->kind == 0 && (waiting->flags & CALLED) == 0 &&
               weft_class_waits_end(env, &r)) {
        r.kind = WEFT_EV_CONTENDED_ENTERED;
        r.flags = 0;
        weft_record_now(&scope, &r);
    } else if (scope.subject != 0 && waiting->kind == 0 && !is_own_wait(&scope) &&
               weft_settings_wanted(r.kind)) {
        weft_identity_fill(env, object, &r, !scope.aggregated);
        if (weft_identity_class_wanted(r.class_id)) {
            weft_record_now(&scope, &r);
            r.kind = WEFT_EV_WAIT_RETURNED;
            if (weft_identity_is_a(env, object, r.class_id, WEFT_THREAD) && weft_joins(NULL)) {
                r.kind = WEFT_EV_JOIN_END;
                r.peer = weft_jvm_thread_id(env, object);
            }
            weft_returns_note(scope.subject, &r);
        }
    }
    weft_self_leave(&scope);
}

void weft_monitors_init(JNIEnv *env) {
    void *jvm = weft_vmstructs_libjvm();
    if (jvm != NULL && (*env)->GetVersion(env) < 0x00180000) { // 24
        jvm_holds_lock = (jboolean(*)(JNIEnv *, jclass, jobject))dlsym(jvm, "JVM_HoldsLock");
    }
}

// Up to Java 23 JVMTI reports a wait before the JVM checks whether it throws.
static bool is_futile(JNIEnv *env, jobject object, jlong millis) {
    return millis < 0 || (jvm_holds_lock != NULL && weft_settings_wanted(WEFT_EV_WAIT) &&
                          atomic_load_explicit(&weft_tracing, memory_order_relaxed) &&
                          !jvm_holds_lock(env, weft_jvm.thread, object));
}

// Object.wait. JVMTI reports its beginning; only the end is recorded here. On Java 24 and later the
// call of a virtual thread returns long before the wait is over, unless it keeps its carrier: it
// has unmounted, so nothing is recorded here (returns.h).
static void JNICALL hook_wait(JNIEnv *env, jobject object, jlong millis) {
    struct weft_scope scope;
    struct weft_record *waiting = weft_self_waiting();
    waiting->kind = 0;
    waiting->flags = is_futile(env, object, millis) ? CALLED | FUTILE : CALLED;
    jvm_wait(env, object, millis);
    struct weft_record r = *waiting;
    waiting->kind = waiting->flags = 0;
    if (r.kind == 0 || r.kind == WEFT_NOT_RECORDED) {
        return;
    }
    bool interrupted;
    jthrowable thrown = weft_jvm_take_exception(env, &interrupted);
    if (interrupted) {
        r.flags |= WEFT_FLAG_INTERRUPTED;
    }
    if (weft_self_enter(env, NULL, &scope)) {
        r.kind = r.kind == WEFT_EV_WAIT ? WEFT_EV_WAIT_RETURNED : WEFT_EV_JOIN_END;
        r.arg = 0;
        r.stack = 0;
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
    weft_jvm_throw_again(env, thrown);
}

// Takes the time before the call, so that no waiter wakes up earlier. A call that throws is not an
// event.
static void notify(JNIEnv *env, jobject object, uint16_t kind,
                   void (*original)(JNIEnv *, jobject)) {
    struct weft_scope scope;
    if (!weft_settings_wanted(kind) || !weft_self_enter(env, NULL, &scope)) {
        original(env, object);
        return;
    }
    struct weft_record r = {.kind = kind};
    weft_identity_fill(env, object, &r, !scope.aggregated);
    if (!weft_identity_class_wanted(r.class_id)) {
        weft_self_leave(&scope);
        original(env, object);
        return;
    }
    r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_NOTIFY));
    weft_record_begin(&scope, &r);
    weft_self_leave(&scope);
    original(env, object);
    weft_record_end(&scope, &r, !(*env)->ExceptionCheck(env));
}

static void JNICALL hook_notify(JNIEnv *env, jobject object) {
    notify(env, object, WEFT_EV_NOTIFY, jvm_notify);
}

static void JNICALL hook_notify_all(JNIEnv *env, jobject object) {
    notify(env, object, WEFT_EV_NOTIFY_ALL, jvm_notify_all);
}

// One row for each name of the native method in any Java version.
const struct weft_hook weft_monitor_hooks[] = {
    {"java/lang/Object", "wait", "(J)V", false, "JVM_MonitorWait", (void *)hook_wait,
     (void **)&jvm_wait, 0, 0},
    {"java/lang/Object", "wait0", "(J)V", false, "JVM_MonitorWait", (void *)hook_wait,
     (void **)&jvm_wait, 19, 0},
    {"java/lang/Object", "notify", "()V", false, "JVM_MonitorNotify", (void *)hook_notify,
     (void **)&jvm_notify, 0, 0},
    {"java/lang/Object", "notifyAll", "()V", false, "JVM_MonitorNotifyAll", (void *)hook_notify_all,
     (void **)&jvm_notify_all, 0, 0},
    {0},
};
