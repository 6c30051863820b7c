// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/virtual.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "hotspot/at_monitor.h"
#include "hotspot/by_id.h"
#include "hotspot/jvm.h"
#include "hotspot/mounted.h"
#include "hotspot/notices.h"
#include "hotspot/unmounted.h"
#include "jvmti/exact.h"
#include "jvmti/parks.h"
#include "jvmti/returns.h"
#include "options/settings.h"
#include "record/context.h"
#include "record/found.h"
#include "record/record.h"
#include "record/roster.h"
#include "record/self.h"
#include "record/stay.h"
#include "record/thread_context.h"

// Constants of JVMTI in 21.
enum {
    EVENT_VIRTUAL_THREAD_START = 87,
    EVENT_VIRTUAL_THREAD_END = 88,
    CAPABILITY_VIRTUAL_THREADS = 44, // its bit
    FIRST_EVENT = JVMTI_MIN_EVENT_TYPE_VAL,
    FIRST_VERSION = 21,    // of Java
    FIRST_TO_UNMOUNT = 24, // in Object.wait
};

// Parked virtual threads, to recognize the mount that ends a park. What finds no slot is counted as
// lost.
enum { PARKED_SLOTS = 1 << 17 };

static _Atomic uint64_t parked[PARKED_SLOTS];

static bool prepared;
static atomic_bool recorded; // by the session; mounts may be followed without one
static atomic_bool follows;  // mounts are recorded, too

// What shows why a virtual thread unmounts. It is looked up when the first one does: earlier,
// looking would initialize VirtualThread, with 200 more classes, in programs without such threads.
struct reasons {
    jfieldID state;       // VirtualThread.state; NULL: missing
    jfieldID timeout;     // VirtualThread.timeout, 24 and later
    jfieldID interrupted; // Thread.interrupted
    jint parking;
    jint timed_parking;
    jint yielding;
};
static struct reasons reasons;
static atomic_bool reasons_known;
static pthread_mutex_t reasons_mutex = PTHREAD_MUTEX_INITIALIZER;

static void JNICALL on_start(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    (void)ti;
    weft_record_event(env, thread, WEFT_EV_THREAD_START);
    weft_exact_check(env);
}

static void JNICALL on_end(jvmtiEnv *ti, JNIEnv *env, jthread thread) {
    (void)ti;
    weft_record_event(env, thread, WEFT_EV_THREAD_END);
    weft_self_context_end(weft_jvm_thread_id(env, thread));
}

// The header may be of a JDK without a name for the capability.
static void set_capability(jvmtiCapabilities *capabilities) {
    uint8_t bytes[sizeof *capabilities] = {0};
    bytes[CAPABILITY_VIRTUAL_THREADS / 8] = 1 << CAPABILITY_VIRTUAL_THREADS % 8;
    memcpy(capabilities, bytes, sizeof bytes);
}

bool weft_virtual_set_callbacks(jvmtiEnv *ti, const jvmtiEventCallbacks *others) {
    // The structure is a list of pointers, one per event number.
    void *all[EVENT_VIRTUAL_THREAD_END - FIRST_EVENT + 1] = {0};
    memcpy(all, others, sizeof *others < sizeof all ? sizeof *others : sizeof all);
    all[EVENT_VIRTUAL_THREAD_START - FIRST_EVENT] = (void *)on_start;
    all[EVENT_VIRTUAL_THREAD_END - FIRST_EVENT] = (void *)on_end;
    return (*ti)->SetEventCallbacks(ti, (const jvmtiEventCallbacks *)all, sizeof all) ==
           JVMTI_ERROR_NONE;
}

static bool remember_parked(uint64_t id) {
    return weft_by_id_enter(parked, PARKED_SLOTS, id) != WEFT_BY_ID_NONE;
}

// Returns the entry of a parked thread, 0 if unknown.
static uint64_t forget_parked(uint64_t id) {
    int at = weft_by_id_find(parked, PARKED_SLOTS, id);
    return at == WEFT_BY_ID_NONE ? 0 : weft_by_id_remove(parked, at);
}

static void record_mount_change(const struct weft_scope *scope, uint16_t kind) {
    if (weft_settings_wanted(WEFT_EV_MOUNT)) {
        struct weft_record r = {.kind = kind, .peer = scope->self->thread};
        weft_record_now(scope, &r);
        if (kind == WEFT_EV_MOUNT && weft_settings_wanted(WEFT_EV_RUNNING)) {
            weft_self_mounted(scope, r.time);
        }
    }
}

// Looks through the fields, because JNI throws an error for one that is missing.
static struct reasons read_reasons(JNIEnv *env, jclass class) {
    jvmtiEnv *ti = weft_jvm.ti;
    struct reasons found = {0};
    jfieldID *fields = NULL;
    jint count = 0;
    found.interrupted = weft_jvm_field(env, weft_jvm.thread, "interrupted", "Z");
    if ((*ti)->GetClassFields(ti, class, &count, &fields) != JVMTI_ERROR_NONE) {
        return found;
    }
    for (jint i = 0; i < count; i++) {
        char *name = NULL;
        if ((*ti)->GetFieldName(ti, class, fields[i], &name, NULL, NULL) != JVMTI_ERROR_NONE) {
            continue;
        }
        if (strcmp(name, "state") == 0) {
            found.state = fields[i];
        } else if (strcmp(name, "timeout") == 0) {
            found.timeout = fields[i];
        } else if (strcmp(name, "PARKING") == 0) {
            found.parking = (*env)->GetStaticIntField(env, class, fields[i]);
        } else if (strcmp(name, "TIMED_PARKING") == 0) {
            found.timed_parking = (*env)->GetStaticIntField(env, class, fields[i]);
        } else if (strcmp(name, "YIELDING") == 0) {
            found.yielding = (*env)->GetStaticIntField(env, class, fields[i]);
        }
        weft_jvm_deallocate(name);
    }
    weft_jvm_deallocate(fields);
    return found;
}

// Several threads may get here at once; the holder of the mutex makes no JVM calls. No Java code
// runs: the class of an existing thread is initialized.
static const struct reasons *find_reasons(JNIEnv *env, jthread thread) {
    if (!atomic_load_explicit(&reasons_known, memory_order_acquire)) {
        jclass class = (*env)->GetObjectClass(env, thread);
        struct reasons found = read_reasons(env, class);
        (*env)->DeleteLocalRef(env, class);
        if (found.state == NULL || found.parking == 0 || found.timed_parking == 0) {
            weft_notices_raise(WEFT_NOTICE_NO_STATES);
        }
        pthread_mutex_lock(&reasons_mutex);
        if (!atomic_load_explicit(&reasons_known, memory_order_relaxed)) {
            reasons = found;
            atomic_store_explicit(&reasons_known, true, memory_order_release);
        }
        pthread_mutex_unlock(&reasons_mutex);
    }
    return &reasons;
}

static void record_unmount(JNIEnv *env, jthread thread, struct weft_scope *scope) {
    const struct reasons *known = find_reasons(env, thread);
    jint why = known->state == NULL ? 0 : (*env)->GetIntField(env, thread, known->state);
    if (weft_settings_wanted(WEFT_EV_PARK) && why != 0 &&
        (why == known->parking || why == known->timed_parking)) {
        if (remember_parked(scope->subject)) {
            int64_t nanoseconds = 0;
            if (why == known->timed_parking && known->timeout != NULL) {
                nanoseconds = (*env)->GetLongField(env, thread, known->timeout);
            }
            if (!weft_parks_record(env, thread, scope, nanoseconds, 0)) {
                forget_parked(scope->subject);
            }
        } else {
            weft_buffer_lose_unbuffered(2); // including its end
        }
    } else if (weft_settings_wanted(WEFT_EV_YIELD) && why != 0 && why == known->yielding) {
        struct weft_record r = {.kind = WEFT_EV_YIELD};
        weft_record_now(scope, &r);
    }
    record_mount_change(scope, WEFT_EV_UNMOUNT);
    scope->self->unmounted = scope->subject;
    scope->self->own_wait = 0;
    scope->self->returned = 0;
    weft_unmounted_note(env, scope->subject);
}

// A park returns at once if the thread is interrupted, so it was interrupted during the park.
static bool is_interrupted(JNIEnv *env, jthread thread) {
    jfieldID field = find_reasons(env, thread)->interrupted;
    return field != NULL && (*env)->GetBooleanField(env, thread, field) == JNI_TRUE;
}

static bool is_of_this_era(uint64_t entry) {
    return entry != 0 && weft_by_id_era_of(entry) == weft_by_id_era();
}

// Found: the entry of a thread that a snapshot found parked; 0: none.
static void record_mount(JNIEnv *env, jthread thread, struct weft_scope *scope, uint64_t found) {
    struct weft_self *self = scope->self;
    weft_stay_mounted(env, &self->entering_stay, scope->subject, self->unmounts);
    weft_stay_mounted(env, &self->waiting_stay, scope->subject, self->unmounts);
    bool failed = self->unmounted == scope->subject && weft_at_monitor(env); // the unmount
    if (failed && self->waited_for != 0) {
        self->waiting.kind = self->waited_for; // the call continues here
    }
    // HotSpot itself makes a thread wait for a class that another thread initializes, and posts no
    // beginning. Before 24, Object.wait keeps the carrier, so its beginning follows this mount.
    // From 24 on, Object.wait unmounts; where that fails, waited_for has the kind of its beginning.
    bool is_own = weft_jvm.version < FIRST_TO_UNMOUNT || (failed && self->waited_for == 0);
    self->own_wait = is_own ? scope->subject : 0;
    self->own_since = atomic_load_explicit(&weft_blackouts, memory_order_relaxed);
    self->unmounted = 0;
    record_mount_change(scope, WEFT_EV_MOUNT);
    uint64_t entry = forget_parked(scope->subject);
    if (entry != 0 || found != 0) {
        // During a blackout the thread may have continued and parked again. If a snapshot found it
        // in that park, the park ends here.
        bool known = is_of_this_era(entry) || is_of_this_era(found);
        struct weft_record r = {.kind = known ? WEFT_EV_UNPARKED : WEFT_EV_GAP};
        r.flags = known && is_interrupted(env, thread) ? WEFT_FLAG_INTERRUPTED : 0;
        weft_record_now(scope, &r);
    }
    struct weft_record returned = {0};
    if (weft_returns_take(scope->subject, &returned)) {
        weft_record_now(scope, &returned);
        scope->self->returned = scope->subject;
    }
}

// Whether the event is to be recorded. If so, the caller has to call weft_self_leave.
static bool enter(JNIEnv *env, jthread thread, struct weft_scope *scope) {
    if (!atomic_load_explicit(&recorded, memory_order_relaxed) ||
        !weft_self_enter(env, thread, scope)) {
        return false;
    }
    if (scope->subject == 0) {
        weft_self_leave(scope);
    }
    return scope->subject != 0;
}

// HotSpot's extension events: their arguments are the JNIEnv and the thread. What other programs
// see of the carrier changes with or without a recording.
static void JNICALL on_mount(jvmtiEnv *ti, ...) {
    va_list arguments;
    va_start(arguments, ti);
    JNIEnv *env = va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    uint64_t id = weft_jvm_thread_id(env, thread);
    if (weft_mounted_enabled()) {
        weft_mounted_set(weft_self_platform_id(env), id);
    }
    if (weft_unmounted_any()) {
        weft_unmounted_forget(id);
    }
    if (weft_thread_context_enabled()) {
        weft_context_mounted(id);
    }
    uint64_t found = weft_found_any() ? weft_found_forget(id) : 0;
    struct weft_scope scope;
    if (enter(env, thread, &scope)) {
        record_mount(env, thread, &scope, found);
        weft_self_leave(&scope);
    }
}

static void JNICALL on_unmount(jvmtiEnv *ti, ...) {
    va_list arguments;
    va_start(arguments, ti);
    JNIEnv *env = va_arg(arguments, JNIEnv *);
    jthread thread = va_arg(arguments, jthread);
    va_end(arguments);
    weft_self_unmounted();
    struct weft_scope scope;
    if (enter(env, thread, &scope)) {
        record_unmount(env, thread, &scope);
        weft_self_leave(&scope);
    }
    weft_context_unmounted();
}

static bool switch_extension(jvmtiEnv *ti, jvmtiEventMode mode, const char *name,
                             jvmtiExtensionEvent callback) {
    jint count = 0;
    jvmtiExtensionEventInfo *events = NULL;
    bool found = false;
    if ((*ti)->GetExtensionEvents(ti, &count, &events) != JVMTI_ERROR_NONE) {
        return false;
    }
    for (jint i = 0; i < count; i++) {
        if (strcmp(events[i].id, name) == 0) {
            jint event = events[i].extension_event_index;
            // The second call enables the event, as in HotSpot's own tests.
            found = (*ti)->SetExtensionEventCallback(ti, event, callback) == JVMTI_ERROR_NONE &&
                    (*ti)->SetEventNotificationMode(ti, mode, (jvmtiEvent)event, NULL) ==
                        JVMTI_ERROR_NONE;
        }
        for (jint j = 0; j < events[i].param_count; j++) {
            weft_jvm_deallocate(events[i].params[j].name);
        }
        weft_jvm_deallocate(events[i].id);
        weft_jvm_deallocate(events[i].short_description);
        weft_jvm_deallocate(events[i].params);
    }
    weft_jvm_deallocate(events);
    return found;
}

static bool switch_mounts(jvmtiEnv *ti, jvmtiEventMode mode) {
    return switch_extension(ti, mode, "com.sun.hotspot.events.VirtualThreadMount", on_mount) &&
           switch_extension(ti, mode, "com.sun.hotspot.events.VirtualThreadUnmount", on_unmount);
}

static bool switch_ends(jvmtiEnv *ti, jvmtiEventMode mode) {
    bool ok = true;
    for (int event = EVENT_VIRTUAL_THREAD_START; event <= EVENT_VIRTUAL_THREAD_END; event++) {
        ok = (*ti)->SetEventNotificationMode(ti, mode, (jvmtiEvent)event, NULL) ==
                 JVMTI_ERROR_NONE &&
             ok;
    }
    return ok;
}

static bool enable(jvmtiEnv *ti) {
    weft_roster_virtual_ends(true);
    bool ok = switch_ends(ti, JVMTI_ENABLE);
    atomic_store(&recorded, true);
    bool are_followed = switch_mounts(ti, JVMTI_ENABLE);
    atomic_store(&follows, are_followed);
    weft_stay_follow(are_followed);
    if (are_followed) {
        weft_thread_context_follow_virtual();
    } else {
        weft_notices_raise(WEFT_NOTICE_NO_MOUNTS);
    }
    return ok;
}

static bool disable(jvmtiEnv *ti) {
    weft_roster_virtual_ends(false);
    bool ok = switch_ends(ti, JVMTI_DISABLE);
    atomic_store(&recorded, false);
    atomic_store(&follows, false);
    weft_stay_follow(false);
    return (!weft_thread_context_leave_virtual() || switch_mounts(ti, JVMTI_DISABLE)) && ok;
}

bool weft_virtual_follows(void) {
    return atomic_load_explicit(&follows, memory_order_relaxed);
}

bool weft_virtual_switch(jvmtiEnv *ti, jvmtiEventMode mode, bool are_wanted) {
    if (mode == JVMTI_ENABLE && are_wanted && !prepared) {
        jvmtiCapabilities capabilities;
        set_capability(&capabilities);
        // The capability does not exist before 21.
        prepared = weft_jvm.current_carrier != NULL &&
                   (*ti)->AddCapabilities(ti, &capabilities) == JVMTI_ERROR_NONE;
        if (!prepared && weft_jvm.version >= FIRST_VERSION) {
            weft_notices_raise(WEFT_NOTICE_NO_CARRIERS);
        }
    }
    if (!prepared || (mode == JVMTI_ENABLE && !are_wanted)) {
        weft_roster_virtual_ends(false);
        return true;
    }
    return mode == JVMTI_ENABLE ? enable(ti) : disable(ti);
}
