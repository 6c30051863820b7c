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

// AbstractOwnableSynchronizer.exclusiveOwnerThread, looked up at the first one, whose class is then
// initialized; NULL: not looked up, or missing.
static jfieldID _Atomic owner;
static atomic_bool owner_missing;

static void (*jvm_park)(JNIEnv *, jobject, jboolean, jlong);
static void (*jvm_unpark)(JNIEnv *, jobject, jobject);

void weft_parks_init(JNIEnv *env) {
    park_blocker = weft_jvm_field(env, weft_jvm.thread, "parkBlocker", "Ljava/lang/Object;");
    if (park_blocker == NULL) {
        weft_notices_raise(WEFT_NOTICE_NO_BLOCKERS);
    }
}

// ReentrantReadWriteLock.Sync.firstReader, looked up in the same way. It is the thread that took
// the read lock while no thread had it, until that thread returns it.
static jfieldID _Atomic reader;
static atomic_bool reader_missing;

static jfieldID reader_field(JNIEnv *env) {
    jfieldID field = atomic_load_explicit(&reader, memory_order_acquire);
    if (field == NULL && !atomic_load_explicit(&reader_missing, memory_order_relaxed)) {
        jclass class = atomic_load(&weft_jvm.read_write.class);
        field = weft_jvm_field(env, class, "firstReader", "Ljava/lang/Thread;");
        atomic_store(&reader, field);
        atomic_store(&reader_missing, field == NULL);
    }
    return field;
}

static jfieldID owner_field(JNIEnv *env) {
    jfieldID field = atomic_load_explicit(&owner, memory_order_acquire);
    if (field != NULL || atomic_load_explicit(&owner_missing, memory_order_relaxed)) {
        return field;
    }
    jclass class = atomic_load(&weft_jvm.ownable.class);
    field = weft_jvm_field(env, class, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    atomic_store(&owner, field);
    atomic_store(&owner_missing, field == NULL);
    if (field == NULL) {
        weft_notices_raise(WEFT_NOTICE_NO_PARK_OWNERS);
    }
    return field;
}

// The id of the thread in a field; 0: it is empty.
static uint64_t thread_in(JNIEnv *env, jobject object, jfieldID field) {
    jobject thread = field == NULL ? NULL : (*env)->GetObjectField(env, object, field);
    if (thread == NULL) {
        return 0;
    }
    uint64_t id = weft_jvm_thread_id(env, thread);
    (*env)->DeleteLocalRef(env, thread);
    return id;
}

// The owner, as far as the synchronizer knows it; it may have changed meanwhile. One that only
// reads is named only if it wants to write: then it waits for itself. Of others, there may be
// several.
static uint64_t owner_of(JNIEnv *env, jthread waiter, jobject blocker, uint32_t class_id) {
    if (!weft_identity_is_a(env, blocker, class_id, WEFT_OWNABLE)) {
        return 0;
    }
    uint64_t id = thread_in(env, blocker, owner_field(env));
    if (id != 0 || !weft_identity_is_a(env, blocker, class_id, WEFT_READ_WRITE)) {
        return id;
    }
    id = thread_in(env, blocker, reader_field(env));
    return id == weft_jvm_thread_id(env, waiter) ? id : 0;
}

void weft_parks_describe_blocker(JNIEnv *env, jthread thread, struct weft_record *r, bool whole) {
    jobject blocker =
        park_blocker == NULL ? NULL : (*env)->GetObjectField(env, thread, park_blocker);
    if (blocker != NULL) {
        weft_identity_fill(env, blocker, r, whole);
        r->peer = whole ? owner_of(env, thread, blocker, r->class_id) : 0;
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
