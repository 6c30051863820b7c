// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/virtual_snapshot.h"

#include <stdbool.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "jvmti/parks.h"
#include "jvmti/virtual.h"
#include "jvmti/watch.h"
#include "options/settings.h"
#include "record/found.h"
#include "record/identity.h"
#include "record/stacks.h"
#include "record/thread_info.h"
#include "wire/clock.h"

// Containers may be nested: that of an executor or scope is a child of the one in which it opened.
enum { MAX_NESTING = 64, LOCAL_REFERENCES = 16 };

struct search {
    jclass virtual;     // java.lang.VirtualThread
    jfieldID carrier;   // VirtualThread.carrierThread; NULL while it is unmounted
    jmethodID threads;  // ThreadContainer.threads
    jmethodID children; // ThreadContainer.children
    jmethodID limit;    // Stream.limit
    jmethodID to_array; // Stream.toArray
    struct weft_finding *list;
    size_t count;
    jlong left; // threads that may yet be looked at
};

static jmethodID method(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jmethodID id = class == NULL ? NULL : (*env)->GetMethodID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

// Returns the outermost container; NULL if something is not as known.
static jobject prepare(JNIEnv *env, struct search *s) {
    jclass containers = weft_jvm_find(env, "jdk/internal/vm/ThreadContainers");
    jclass container = weft_jvm_find(env, "jdk/internal/vm/ThreadContainer");
    jclass stream = weft_jvm_find(env, "java/util/stream/Stream");
    s->virtual = weft_jvm_find(env, "java/lang/VirtualThread");
    s->threads = method(env, container, "threads", "()Ljava/util/stream/Stream;");
    s->children = method(env, container, "children", "()Ljava/util/stream/Stream;");
    s->limit = method(env, stream, "limit", "(J)Ljava/util/stream/Stream;");
    s->to_array = method(env, stream, "toArray", "()[Ljava/lang/Object;");
    if (containers == NULL || s->virtual == NULL || s->threads == NULL || s->children == NULL ||
        s->limit == NULL || s->to_array == NULL) {
        return NULL;
    }
    s->carrier = weft_jvm_field(env, s->virtual, "carrierThread", "Ljava/lang/Thread;");
    jmethodID root =
        (*env)->GetStaticMethodID(env, containers, "root", "()Ljdk/internal/vm/ThreadContainer;");
    if (weft_jvm_clear_exception(env) || root == NULL || s->carrier == NULL) {
        return NULL;
    }
    jobject outermost = (*env)->CallStaticObjectMethod(env, containers, root);
    return weft_jvm_clear_exception(env) ? NULL : outermost;
}

// What a container has of threads or of containers, at most as many as may be looked at.
static jobjectArray list_of(JNIEnv *env, const struct search *s, jobject container, jmethodID of) {
    jobject stream = (*env)->CallObjectMethod(env, container, of);
    if (weft_jvm_clear_exception(env) || stream == NULL) {
        return NULL;
    }
    jobject limited = (*env)->CallObjectMethod(env, stream, s->limit, s->left);
    if (weft_jvm_clear_exception(env) || limited == NULL) {
        return NULL;
    }
    jobjectArray all = (*env)->CallObjectMethod(env, limited, s->to_array);
    return weft_jvm_clear_exception(env) ? NULL : all;
}

static bool is_unmounted(JNIEnv *env, const struct search *s, jthread thread) {
    jobject carrier = (*env)->GetObjectField(env, thread, s->carrier);
    (*env)->DeleteLocalRef(env, carrier);
    return carrier == NULL;
}

// Describes the park of a thread that was noted. False if it does not park.
static bool describe(JNIEnv *env, const struct search *s, jthread thread, struct weft_record *r) {
    jint state = 0;
    *r = (struct weft_record){
        .kind = WEFT_EV_PARK, .flags = WEFT_FLAG_SNAPSHOT | WEFT_FLAG_VIRTUAL, .time = weft_clock()};
    if (!is_unmounted(env, s, thread) ||
        (*weft_jvm.ti)->GetThreadState(weft_jvm.ti, thread, &state) != JVMTI_ERROR_NONE ||
        weft_watch_kind(state) != WEFT_EV_PARK) {
        return false;
    }
    weft_parks_describe_blocker(env, thread, r, true);
    r->stack = weft_stacks_of(env, thread, weft_settings_depth(WEFT_PLACE_PARK));
    return weft_identity_class_wanted(r->class_id);
}

static void look_at(JNIEnv *env, struct search *s, jthread thread) {
    struct weft_finding *f = &s->list[s->count];
    if (!(*env)->IsInstanceOf(env, thread, s->virtual) || !is_unmounted(env, s, thread)) {
        return;
    }
    *f = (struct weft_finding){.thread = weft_jvm_thread_id(env, thread), .is_virtual = true};
    if (!weft_found_note(f->thread)) {
        return;
    }
    bool parks = describe(env, s, thread, &f->record);
    if (!parks) {
        weft_found_forget(f->thread);
    } else if (weft_found_is(f->thread)) {
        weft_thread_info_announce(env, thread, f->thread, true);
        s->count++;
    }
}

static void visit(JNIEnv *env, struct search *s, jobject container, int nesting) {
    jobjectArray threads = list_of(env, s, container, s->threads);
    jsize count = threads == NULL ? 0 : (*env)->GetArrayLength(env, threads);
    for (jsize i = 0; i < count && s->left > 0; i++, s->left--) {
        jobject thread = (*env)->GetObjectArrayElement(env, threads, i);
        look_at(env, s, thread);
        (*env)->DeleteLocalRef(env, thread);
    }
    jobjectArray children = list_of(env, s, container, s->children);
    count = children == NULL || nesting == MAX_NESTING ? 0 : (*env)->GetArrayLength(env, children);
    for (jsize i = 0; i < count && s->left > 0; i++) {
        if ((*env)->PushLocalFrame(env, LOCAL_REFERENCES) == JNI_OK) {
            visit(env, s, (*env)->GetObjectArrayElement(env, children, i), nesting + 1);
            (*env)->PopLocalFrame(env, NULL);
        } else {
            weft_jvm_clear_exception(env);
        }
    }
}

size_t weft_virtual_snapshot(JNIEnv *env, struct weft_finding **list) {
    struct search s = {.left = WEFT_VIRTUAL_SNAPSHOT_MAX};
    *list = NULL;
    // Without a carrier there was no virtual thread yet, and the classes would be loaded in vain.
    if (!weft_virtual_follows() || !weft_settings_wanted(WEFT_EV_PARK) ||
        weft_jvm_loaded(env, &weft_jvm.carrier) == NULL ||
        (*env)->PushLocalFrame(env, LOCAL_REFERENCES) != JNI_OK) {
        weft_jvm_clear_exception(env);
        return 0;
    }
    jobject outermost = prepare(env, &s);
    s.list = outermost == NULL ? NULL : calloc(WEFT_VIRTUAL_SNAPSHOT_MAX, sizeof *s.list);
    if (s.list != NULL) {
        weft_found_sweep();
        visit(env, &s, outermost, 0);
        *list = s.list;
    }
    (*env)->PopLocalFrame(env, NULL);
    return s.count;
}
