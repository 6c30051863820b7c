// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/parks.h"

#include <stdatomic.h>
#include <stddef.h>

#include "hotspot/jvm.h"
#include "hotspot/mounted.h"
#include "hotspot/notices.h"
#include "jvmti/timeout.h"
#include "options/settings.h"
#include "record/context.h"
#include "record/identity.h"
#include "record/owner_stack.h"
#include "record/record.h"
#include "record/self.h"
#include "wire/clock.h"

static jfieldID park_blocker; // Thread.parkBlocker

// A field that names the thread that can end a wait, looked up at the first object that has it,
// whose class is then initialized.
struct ender {
    struct weft_late_class *class;
    const char *name;
    enum weft_trait trait;
    enum weft_notice notice; // if the field is missing
    jfieldID _Atomic field;  // NULL: not looked up, or missing
    atomic_bool missing;
};

static struct ender owner = {&weft_jvm.ownable,
                             "exclusiveOwnerThread",
                             WEFT_OWNABLE,
                             WEFT_NOTICE_NO_PARK_OWNERS,
                             NULL,
                             false};
// The thread that took the read lock of a ReentrantReadWriteLock while no thread had it, until it
// returns it.
static struct ender reader = {&weft_jvm.read_write,       "firstReader", WEFT_READ_WRITE,
                              WEFT_NOTICE_NO_PARK_OWNERS, NULL,          false};
// The thread that runs a FutureTask; none while it is queued.
static struct ender runner = {&weft_jvm.task, "runner", WEFT_TASK, WEFT_NOTICE_NO_PARK_OWNERS,
                              NULL,           false};

static void (*jvm_park)(JNIEnv *, jobject, jboolean, jlong);
static void (*jvm_unpark)(JNIEnv *, jobject, jobject);

void weft_parks_init(JNIEnv *env) {
    park_blocker = weft_jvm_field(env, weft_jvm.thread, "parkBlocker", "Ljava/lang/Object;");
    if (park_blocker == NULL) {
        weft_notices_raise(WEFT_NOTICE_NO_BLOCKERS);
    }
}

static jfieldID field_of(JNIEnv *env, struct ender *e) {
    jfieldID field = atomic_load_explicit(&e->field, memory_order_acquire);
    if (field != NULL || atomic_load_explicit(&e->missing, memory_order_relaxed)) {
        return field;
    }
    field = weft_jvm_field(env, atomic_load(&e->class->class), e->name, "Ljava/lang/Thread;");
    atomic_store(&e->field, field);
    atomic_store(&e->missing, field == NULL);
    if (field == NULL) {
        weft_notices_raise(e->notice);
    }
    return field;
}

// The id of the thread that an object names; 0: none, or the object has no such field.
static uint64_t named_by(JNIEnv *env, jobject object, uint32_t class_id, struct ender *e) {
    jfieldID field = weft_identity_is_a(env, object, class_id, e->trait) ? field_of(env, e) : NULL;
    jobject thread = field == NULL ? NULL : (*env)->GetObjectField(env, object, field);
    if (thread == NULL) {
        return 0;
    }
    uint64_t id = weft_jvm_thread_id(env, thread);
    (*env)->DeleteLocalRef(env, thread);
    return id;
}

// The thread that can end a wait for an object, as far as the object knows it; it may have changed
// meanwhile. One that only reads is named only if it wants to write: then it waits for itself. Of
// others, there may be several.
static uint64_t ender_of(JNIEnv *env, jthread waiter, jobject blocker, uint32_t class_id) {
    uint64_t id = named_by(env, blocker, class_id, &owner);
    if (id != 0) {
        return id;
    }
    id = named_by(env, blocker, class_id, &runner);
    if (id != 0) {
        return id;
    }
    id = named_by(env, blocker, class_id, &reader);
    return id != 0 && id == weft_jvm_thread_id(env, waiter) ? id : 0;
}

void weft_parks_describe_blocker(JNIEnv *env, jthread thread, struct weft_record *r, bool whole) {
    jobject blocker =
        park_blocker == NULL ? NULL : (*env)->GetObjectField(env, thread, park_blocker);
    if (blocker != NULL) {
        weft_identity_fill(env, blocker, r, whole);
        r->peer = whole ? ender_of(env, thread, blocker, r->class_id) : 0;
        (*env)->DeleteLocalRef(env, blocker);
    }
}

bool weft_parks_record(JNIEnv *env, jthread thread, struct weft_scope *scope, int64_t nanoseconds,
                       uint16_t flags) {
    struct weft_record r = {.kind = WEFT_EV_PARK, .arg = nanoseconds, .flags = flags};
    jthread current = NULL;
    weft_record_begin(scope, &r); // the thread counts as parked from here on
    weft_self_refresh_name(env, thread, scope);
    if (thread == NULL && scope->subject == 0) {
        thread = scope->self->object;
    }
    if (thread == NULL) {
        thread = current = weft_jvm_current_thread();
    }
    if (thread != NULL) {
        weft_parks_describe_blocker(env, thread, &r, !scope->aggregated);
        weft_context_note_owner(scope, &r);
    }
    if (current != NULL) {
        (*env)->DeleteLocalRef(env, current);
    }
    bool wanted = weft_identity_class_wanted(r.class_id);
    if (wanted) {
        r.stack = weft_record_stack(scope, env, weft_settings_depth(WEFT_PLACE_PARK));
    }
    weft_record_end(scope, &r, wanted);
    if (wanted) {
        weft_owner_stack(env, scope, &r);
    }
    return wanted;
}

// A pinned virtual thread gets here and stays on its carrier. An idle carrier parks itself.
static uint16_t pinned(const struct weft_scope *scope) {
    return scope->subject == 0 ? 0 : WEFT_FLAG_PINNED;
}

static bool record_park(JNIEnv *env, bool absolute, jlong time) {
    struct weft_scope scope;
    if (!weft_settings_wanted(WEFT_EV_PARK) || !weft_self_enter(env, NULL, &scope)) {
        return false;
    }
    bool seen = !scope.self->carrier || scope.subject != 0;
    if (!seen && weft_mounted_enabled()) {
        weft_mounted_set(scope.self->thread, 0);
    }
    if (seen) {
        int64_t now = absolute ? weft_clock_wall() : 0;
        seen = weft_parks_record(env, NULL, &scope, weft_timeout_of_park(absolute, time, now),
                                 pinned(&scope));
    }
    weft_self_leave(&scope);
    return seen;
}

static void record_unparked(JNIEnv *env) {
    struct weft_scope scope;
    if (weft_self_enter(env, NULL, &scope)) {
        struct weft_record r = {.kind = WEFT_EV_UNPARKED, .flags = pinned(&scope)};
        weft_record_now(&scope, &r);
        weft_self_leave(&scope);
    }
}

static void JNICALL hook_park(JNIEnv *env, jobject unsafe, jboolean absolute, jlong time) {
    bool seen = record_park(env, absolute, time);
    jvm_park(env, unsafe, absolute, time);
    // From here on nothing may call the JVM: Thread.stop may have left an exception.
    if (seen) {
        record_unparked(env);
    }
}

// Takes the time before the call, so that the thread does not wake up earlier, and the stack after
// it, so that the thread does not wake up later.
static void JNICALL hook_unpark(JNIEnv *env, jobject unsafe, jobject thread) {
    struct weft_scope scope;
    if (thread == NULL || !weft_settings_wanted(WEFT_EV_UNPARK) ||
        weft_jvm_is_carrier(env, thread) || !weft_self_enter(env, NULL, &scope)) {
        jvm_unpark(env, unsafe, thread);
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_UNPARK, .peer = weft_jvm_thread_id(env, thread)};
    weft_record_begin(&scope, &r);
    jvm_unpark(env, unsafe, thread);
    if (!(*env)->ExceptionCheck(env)) {
        r.stack = weft_record_stack(&scope, env, weft_settings_depth(WEFT_PLACE_UNPARK));
    }
    weft_record_end(&scope, &r, true);
    weft_self_leave(&scope);
}

// The functions are not exported. sun.misc is for Java 8.
const struct weft_hook weft_park_hooks[] = {
    {"jdk/internal/misc/Unsafe", "park", "(ZJ)V", false, NULL, (void *)hook_park,
     (void **)&jvm_park, 9, 0},
    {"jdk/internal/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V", false, NULL,
     (void *)hook_unpark, (void **)&jvm_unpark, 9, 0},
    {"sun/misc/Unsafe", "park", "(ZJ)V", false, NULL, (void *)hook_park, (void **)&jvm_park, 0, 8},
    {"sun/misc/Unsafe", "unpark", "(Ljava/lang/Object;)V", false, NULL, (void *)hook_unpark,
     (void **)&jvm_unpark, 0, 8},
    {0},
};
