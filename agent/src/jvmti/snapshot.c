// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "hotspot/jvm.h"
#include "jvmti/joins.h"
#include "jvmti/management.h"
#include "jvmti/parks.h"
#include "jvmti/virtual_snapshot.h"
#include "jvmti/watch.h"
#include "options/settings.h"
#include "record/identity.h"
#include "record/self.h"
#include "record/stacks.h"
#include "record/thread_info.h"
#include "send/findings.h"
#include "send/sender.h"
#include "wire/clock.h"

// A thread that may be waiting.
struct candidate {
    jthread thread;
    int32_t hash; // of the thread object
    bool waits;   // the record is filled in and will be sent
    bool monitor; // the lock is not known yet
    struct weft_finding finding;
};

static enum weft_place place_of(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_WAIT:
        return WEFT_PLACE_WAIT;
    case WEFT_EV_PARK:
        return WEFT_PLACE_PARK;
    default:
        return WEFT_PLACE_BLOCK;
    }
}

// Looks at a thread. If the thread continues meanwhile, it writes an event, and the sender rejects
// the finding.
static void examine(JNIEnv *env, struct candidate *c, const struct weft_look *look) {
    jvmtiEnv *ti = weft_jvm.ti;
    jint state = 0;
    struct weft_record *r = &c->finding.record;
    if (!look->idle || (*ti)->GetThreadState(ti, c->thread, &state) != JVMTI_ERROR_NONE) {
        return;
    }
    r->kind = weft_watch_kind(state);
    if (r->kind == 0 || !weft_settings_wanted(r->kind) || weft_jvm_is_carrier(env, c->thread) ||
        !weft_thread_info_wanted(env, c->thread)) {
        return;
    }
    r->flags = WEFT_FLAG_SNAPSHOT;
    c->finding.position = look->position;
    c->waits = true;
    c->monitor = r->kind == WEFT_EV_CONTENDED_ENTER || r->kind == WEFT_EV_WAIT;
    if (r->kind == WEFT_EV_PARK) {
        weft_parks_describe_blocker(env, c->thread, r, true);
    }
    r->stack = weft_stacks_of(env, c->thread, weft_settings_depth(place_of(r->kind)));
}

// A wait at a thread object may be a join.
static void find_joined(struct candidate *c, const struct candidate *list, jint count) {
    struct weft_record *r = &c->finding.record;
    for (jint i = 0; r->kind == WEFT_EV_WAIT && i < count; i++) {
        if ((uint32_t)list[i].hash == r->hash && r->hash != 0 && weft_joins(c->thread)) {
            r->kind = WEFT_EV_JOIN_START;
            r->peer = list[i].finding.thread;
        }
    }
}

// Whether the lock is of interest: the JVM's own threads, such as the finalizer, wait at monitors
// of the JDK in each program.
static bool is_asked(JNIEnv *env, const struct candidate *c) {
    return c->monitor && (c->finding.record.kind == WEFT_EV_CONTENDED_ENTER ||
                          !weft_thread_info_of_jvm(env, c->thread));
}

// Asks the management interface for the monitors, which runs Java code, if one is of interest. If
// its module is missing, the states are sent without them.
static void find_monitors(JNIEnv *env, struct candidate *list, jint count) {
    size_t wanted = 0;
    bool ask = false;
    struct weft_lock_info *infos = calloc((size_t)count + 1, sizeof *infos);
    if (infos == NULL) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        if (list[i].monitor) {
            infos[wanted++].thread = list[i].finding.thread;
            ask = ask || is_asked(env, &list[i]);
        }
    }
    if (ask && weft_management_locks(env, infos, wanted)) {
        wanted = 0;
        for (jint i = 0; i < count; i++) {
            if (list[i].monitor) {
                const struct weft_lock_info *info = &infos[wanted++];
                struct weft_record *r = &list[i].finding.record;
                r->hash = info->hash;
                r->class_id = info->class_id;
                r->peer = r->kind == WEFT_EV_CONTENDED_ENTER ? info->owner : 0;
                find_joined(&list[i], list, count);
            }
        }
    }
    free(infos);
}

// With the virtual threads, whose findings have their own times.
static void post(JNIEnv *env, struct candidate *list, jint count, int64_t time) {
    struct weft_finding *virtual = NULL;
    size_t virtual_count = weft_virtual_snapshot(env, &virtual);
    struct weft_finding *found = calloc((size_t)count + virtual_count + 1, sizeof *found);
    size_t posted = 0;
    for (jint i = 0; found != NULL && i < count; i++) {
        if (list[i].waits) {
            list[i].finding.record.time = time;
            found[posted++] = list[i].finding;
        }
    }
    if (found != NULL && virtual_count > 0) {
        memcpy(found + posted, virtual, virtual_count * sizeof *found);
        posted += virtual_count;
    }
    free(virtual);
    weft_findings_post(found, posted);
    weft_sender_wake();
}

static bool look_at_all(JNIEnv *env, jthread self, jthread *threads, jint count) {
    jvmtiEnv *ti = weft_jvm.ti;
    struct weft_look *looks = NULL;
    size_t look_count = 0;
    struct candidate *list = calloc((size_t)count + 1, sizeof *list);
    if (list == NULL || !weft_findings_look(weft_sender_wake, &looks, &look_count)) {
        free(list);
        return false;
    }
    int64_t time = weft_clock();
    for (jint i = 0; i < count; i++) {
        struct candidate *c = &list[i];
        c->thread = threads[i];
        c->finding.thread = weft_jvm_thread_id(env, threads[i]);
        (*ti)->GetObjectHashCode(ti, threads[i], &c->hash);
        if (c->finding.thread != 0 && !(*env)->IsSameObject(env, threads[i], self)) {
            weft_thread_info_announce(env, threads[i], c->finding.thread, false);
            struct weft_look look = weft_findings_look_at(looks, look_count, c->finding.thread);
            examine(env, c, &look);
        }
    }
    find_monitors(env, list, count);
    for (jint i = 0; i < count; i++) {
        const struct weft_record *r = &list[i].finding.record;
        list[i].waits = list[i].waits &&
                        (r->kind == WEFT_EV_SLEEP_START || weft_identity_class_wanted(r->class_id));
    }
    weft_watch_begin(env);
    for (jint i = 0; i < count; i++) {
        struct weft_look look = weft_findings_look_at(looks, look_count, list[i].finding.thread);
        // If the beginning is a thread's last event, the thread will write the end itself.
        if (list[i].waits && look.kind != list[i].finding.record.kind &&
            list[i].finding.record.kind != WEFT_EV_CONTENDED_ENTER) {
            weft_watch_add(env, list[i].thread, &list[i].finding);
        }
    }
    bool watching = weft_watch_end();
    post(env, list, count, time);
    free(looks);
    free(list);
    return watching;
}

bool weft_snapshot_take(JNIEnv *env) {
    jvmtiEnv *ti = weft_jvm.ti;
    jthread self = NULL;
    jint count = 0;
    jthread *threads = NULL;
    bool watching = false;
    bool was = weft_self_hide(true);
    if ((*ti)->GetCurrentThread(ti, &self) == JVMTI_ERROR_NONE &&
        (*ti)->GetAllThreads(ti, &count, &threads) == JVMTI_ERROR_NONE) {
        watching = look_at_all(env, self, threads, count);
        for (jint i = 0; i < count; i++) {
            (*env)->DeleteLocalRef(env, threads[i]);
        }
        weft_jvm_deallocate(threads);
    }
    if (self != NULL) {
        (*env)->DeleteLocalRef(env, self);
    }
    weft_self_hide(was);
    return watching;
}
