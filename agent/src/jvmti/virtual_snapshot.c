// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/virtual_snapshot.h"

#include <stdbool.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "hotspot/notices.h"
#include "jvmti/parks.h"
#include "jvmti/virtual.h"
#include "options/settings.h"
#include "record/found.h"
#include "record/identity.h"
#include "record/roster.h"
#include "record/stacks.h"
#include "wire/clock.h"
#include "wire/names.h"

// Containers may be nested: that of an executor or scope is a child of the one in which it opened.
// Each has two lists and itself as local references.
enum { MAX_NESTING = 64, LOCAL_REFERENCES = 16 + 3 * MAX_NESTING };

// Threads whose stacks are taken together, because each time the JVM first waits until no thread is
// being mounted or unmounted, and then delays those that are to be.
enum { AT_ONCE = 256 };

struct search {
    jclass virtual;     // java.lang.VirtualThread
    jfieldID state;     // VirtualThread.state
    jfieldID name;      // Thread.name
    jmethodID threads;  // ThreadContainer.threads
    jmethodID children; // ThreadContainer.children
    jmethodID limit;    // Stream.limit
    jmethodID to_array; // Stream.toArray
    jint parked;        // state of an unmounted thread
    jint timed_parked;  // 22 and later
    struct weft_finding *list;
    size_t count;             // those that are to be posted; after them, the waiting ones
    jthread waiting[AT_ONCE]; // for their stacks
    jint waiting_count;
    jlong left;    // threads and containers that may yet be looked at
    int64_t spent; // ns, taking stacks
};

static jmethodID method(JNIEnv *env, jclass class, const char *name, const char *signature) {
    jmethodID id = class == NULL ? NULL : (*env)->GetMethodID(env, class, name, signature);
    return weft_jvm_clear_exception(env) ? NULL : id;
}

static jint constant(JNIEnv *env, jclass class, const char *name) {
    jfieldID field = (*env)->GetStaticFieldID(env, class, name, "I");
    return weft_jvm_clear_exception(env) || field == NULL
               ? 0
               : (*env)->GetStaticIntField(env, class, field);
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
    s->state = weft_jvm_field(env, s->virtual, "state", "I");
    s->name = weft_jvm_field(env, weft_jvm.thread, "name", "Ljava/lang/String;");
    s->parked = constant(env, s->virtual, "PARKED");
    s->timed_parked = constant(env, s->virtual, "TIMED_PARKED");
    jmethodID root =
        (*env)->GetStaticMethodID(env, containers, "root", "()Ljdk/internal/vm/ThreadContainer;");
    if (weft_jvm_clear_exception(env) || root == NULL || s->state == NULL || s->parked == 0 ||
        s->name == NULL) {
        return NULL;
    }
    jobject outermost = (*env)->CallStaticObjectMethod(env, containers, root);
    return weft_jvm_clear_exception(env) ? NULL : outermost;
}

// What a container has of threads or of containers, at most one more than may be looked at.
static jobjectArray list_of(JNIEnv *env, const struct search *s, jobject container, jmethodID of) {
    jobject all = NULL;
    if ((*env)->PushLocalFrame(env, 4) != JNI_OK) {
        weft_jvm_clear_exception(env);
        return NULL;
    }
    jobject stream = (*env)->CallObjectMethod(env, container, of);
    if (!weft_jvm_clear_exception(env) && stream != NULL) {
        jobject limited = (*env)->CallObjectMethod(env, stream, s->limit, s->left + 1);
        if (!weft_jvm_clear_exception(env) && limited != NULL) {
            all = (*env)->CallObjectMethod(env, limited, s->to_array);
            all = weft_jvm_clear_exception(env) ? NULL : all;
        }
    }
    return (*env)->PopLocalFrame(env, all);
}

// These fields are read without JVMTI, for which the JVM delays mounts and unmounts.
static bool is_parked(JNIEnv *env, const struct search *s, jthread thread) {
    jint state = (*env)->GetIntField(env, thread, s->state);
    return state != 0 && (state == s->parked || state == s->timed_parked);
}

static void announce(JNIEnv *env, const struct search *s, jthread thread, uint64_t id) {
    jstring name = (*env)->GetObjectField(env, thread, s->name);
    size_t length = name == NULL ? 0 : (size_t)(*env)->GetStringUTFLength(env, name);
    char *text = calloc(1, length + 1);
    if (text != NULL && length > 0) {
        (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), text);
        weft_names_utf8(text);
    }
    weft_roster_announce(id, WEFT_THREAD_VIRTUAL | WEFT_THREAD_DAEMON, text, "VirtualThreads");
    free(text);
    (*env)->DeleteLocalRef(env, name);
}

static void look_at(JNIEnv *env, struct search *s, jthread thread) {
    uint64_t id = weft_jvm_thread_id(env, thread);
    struct weft_record r = {.kind = WEFT_EV_PARK, .flags = WEFT_FLAG_SNAPSHOT | WEFT_FLAG_VIRTUAL};
    if (!is_parked(env, s, thread)) {
        return;
    }
    if (!weft_found_note(id)) {
        weft_notices_raise(WEFT_NOTICE_SNAPSHOT_CUT);
        return;
    }
    if (!is_parked(env, s, thread)) { // it continued before it was noted
        weft_found_forget(id);
        return;
    }
    r.time = weft_clock(); // after the thread recorded this park itself, if it did
    weft_parks_describe_blocker(env, thread, &r, true);
    if (!weft_identity_class_wanted(r.class_id)) {
        weft_found_forget(id);
        return;
    }
    s->list[s->count + (size_t)s->waiting_count] =
        (struct weft_finding){.thread = id, .is_virtual = true, .record = r};
    s->waiting[s->waiting_count++] = (*env)->NewLocalRef(env, thread);
}

// Takes the stacks of the waiting threads, and keeps those that were parked all the time.
static void take_stacks(JNIEnv *env, struct search *s) {
    int depth = weft_settings_depth(WEFT_PLACE_PARK);
    jvmtiStackInfo *infos = NULL;
    int64_t begun = weft_clock();
    if (depth > 0 && s->waiting_count > 0 &&
        (*weft_jvm.ti)
                ->GetThreadListStackTraces(weft_jvm.ti, s->waiting_count, s->waiting, depth + 1,
                                           &infos) != JVMTI_ERROR_NONE) {
        infos = NULL;
    }
    s->spent += weft_clock() - begun;
    struct weft_finding *all = &s->list[s->count];
    for (jint i = 0; i < s->waiting_count; i++) {
        if (weft_found_is(all[i].thread)) {
            if (infos != NULL) {
                all[i].record.stack =
                    weft_stacks_of_frames(env, infos[i].frame_buffer, infos[i].frame_count, depth);
            }
            announce(env, s, s->waiting[i], all[i].thread);
            s->list[s->count++] = all[i];
        }
        (*env)->DeleteLocalRef(env, s->waiting[i]);
    }
    s->waiting_count = 0;
    weft_jvm_deallocate(infos);
}

// Counts a thread or container. False if no more may be looked at.
static bool may_look(struct search *s) {
    bool more = s->left > 0 && s->spent < (int64_t)WEFT_VIRTUAL_SNAPSHOT_MS * 1000000;
    if (more) {
        s->left--;
    } else {
        weft_notices_raise(WEFT_NOTICE_SNAPSHOT_CUT);
    }
    return more;
}

static void visit(JNIEnv *env, struct search *s, jobject container, int nesting) {
    jobjectArray threads = list_of(env, s, container, s->threads);
    jsize count = threads == NULL ? 0 : (*env)->GetArrayLength(env, threads);
    for (jsize i = 0; i < count && may_look(s); i++) {
        jobject thread = (*env)->GetObjectArrayElement(env, threads, i);
        if ((*env)->IsInstanceOf(env, thread, s->virtual)) {
            look_at(env, s, thread);
        }
        (*env)->DeleteLocalRef(env, thread);
        if (s->waiting_count == AT_ONCE) {
            take_stacks(env, s);
        }
    }
    (*env)->DeleteLocalRef(env, threads);
    jobjectArray children = list_of(env, s, container, s->children);
    count = children == NULL ? 0 : (*env)->GetArrayLength(env, children);
    if (count > 0 && nesting == MAX_NESTING) {
        weft_notices_raise(WEFT_NOTICE_SNAPSHOT_CUT);
        count = 0;
    }
    for (jsize i = 0; i < count && may_look(s); i++) {
        jobject child = (*env)->GetObjectArrayElement(env, children, i);
        visit(env, s, child, nesting + 1);
        (*env)->DeleteLocalRef(env, child);
    }
    (*env)->DeleteLocalRef(env, children);
}

// Whether there was a virtual thread, and so a carrier. Otherwise it would load classes in vain.
static bool had_carrier(JNIEnv *env) {
    jint status = 0;
    jclass carrier = weft_jvm_loaded(env, &weft_jvm.carrier);
    return carrier != NULL &&
           (*weft_jvm.ti)->GetClassStatus(weft_jvm.ti, carrier, &status) == JVMTI_ERROR_NONE &&
           (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

size_t weft_virtual_snapshot(JNIEnv *env, struct weft_finding **list) {
    struct search s = {.left = WEFT_VIRTUAL_SNAPSHOT_MAX};
    *list = NULL;
    if (!weft_virtual_follows() || !weft_settings_wanted(WEFT_EV_PARK) || !had_carrier(env) ||
        (*env)->PushLocalFrame(env, LOCAL_REFERENCES + AT_ONCE) != JNI_OK) {
        weft_jvm_clear_exception(env);
        return 0;
    }
    jobject outermost = prepare(env, &s);
    if (outermost == NULL) {
        weft_notices_raise(WEFT_NOTICE_NO_CONTAINERS);
    } else if ((s.list = calloc(WEFT_VIRTUAL_SNAPSHOT_MAX, sizeof *s.list)) != NULL) {
        weft_found_sweep();
        visit(env, &s, outermost, 0);
        take_stacks(env, &s);
        *list = s.list;
    }
    (*env)->PopLocalFrame(env, NULL);
    return s.count;
}
