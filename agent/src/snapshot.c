// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What are the threads doing right now? See snapshot.h. This file looks at the threads; watch.c has
// the thread that does so on request.

#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "found.h"
#include "identity.h"
#include "jvm.h"
#include "management.h"
#include "parks.h"
#include "self.h"
#include "sender.h"
#include "settings.h"
#include "stacks.h"
#include "watch.h"

// A thread that was found to wait for something.
struct candidate {
    jthread thread;
    int32_t hash; // of the thread object
    bool waits;   // the record is filled in and to be sent
    bool monitor; // the lock is still to be found out
    struct weft_found found;
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

uint16_t weft_kind_of_state(jint state) {
    if ((state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0) {
        return WEFT_EV_CONTENDED_ENTER;
    }
    if ((state & JVMTI_THREAD_STATE_IN_OBJECT_WAIT) != 0) {
        return WEFT_EV_WAIT;
    }
    if ((state & JVMTI_THREAD_STATE_PARKED) != 0) {
        return WEFT_EV_PARK;
    }
    return (state & JVMTI_THREAD_STATE_SLEEPING) != 0 ? WEFT_EV_SLEEP_START : 0;
}

// Looks at a thread. It may go on meanwhile: then it writes something, and what was found is not
// taken.
static void examine(JNIEnv *env, struct candidate *c, const struct weft_look *look) {
    jvmtiEnv *ti = weft_jvm.ti;
    jint state = 0;
    struct weft_record *r = &c->found.record;
    if (!look->idle || (*ti)->GetThreadState(ti, c->thread, &state) != JVMTI_ERROR_NONE) {
        return;
    }
    r->kind = weft_kind_of_state(state);
    if (r->kind == 0 || !weft_wanted(r->kind) || weft_is_carrier(env, c->thread) ||
        !weft_thread_wanted(env, c->thread)) {
        return;
    }
    r->flags = WEFT_FLAG_SNAPSHOT;
    c->found.position = look->position;
    c->waits = true;
    c->monitor = r->kind == WEFT_EV_CONTENDED_ENTER || r->kind == WEFT_EV_WAIT;
    if (r->kind == WEFT_EV_PARK) {
        weft_describe_blocker(env, c->thread, r, true);
    }
    r->stack = weft_stack_of(env, c->thread, weft_depth(place_of(r->kind)));
}

// A wait at a thread object is a join.
static void find_joined(struct weft_record *r, const struct candidate *list, jint count) {
    for (jint i = 0; r->kind == WEFT_EV_WAIT && i < count; i++) {
        if ((uint32_t)list[i].hash == r->hash && r->hash != 0) {
            r->kind = WEFT_EV_JOIN_START;
            r->peer = list[i].found.thread;
        }
    }
}

// Asks the management interface for the monitors. Where it is not there (it is a module that a JVM
// can lack) the states are sent without.
static void find_monitors(JNIEnv *env, struct candidate *list, jint count) {
    size_t wanted = 0;
    struct weft_lock_info *infos = calloc((size_t)count + 1, sizeof *infos);
    if (infos == NULL) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        if (list[i].monitor) {
            infos[wanted++].thread = list[i].found.thread;
        }
    }
    if (wanted > 0 && weft_management_locks(env, infos, wanted)) {
        wanted = 0;
        for (jint i = 0; i < count; i++) {
            if (list[i].monitor) {
                const struct weft_lock_info *info = &infos[wanted++];
                struct weft_record *r = &list[i].found.record;
                r->hash = info->hash;
                r->class_id = info->class_id;
                r->peer = r->kind == WEFT_EV_CONTENDED_ENTER ? info->owner : 0;
                find_joined(r, list, count);
            }
        }
    }
    free(infos);
}

static void post(struct candidate *list, jint count, int64_t time) {
    struct weft_found *found = calloc((size_t)count + 1, sizeof *found);
    size_t posted = 0;
    for (jint i = 0; found != NULL && i < count; i++) {
        if (list[i].waits) {
            list[i].found.record.time = time;
            found[posted++] = list[i].found;
        }
    }
    weft_found_post(found, posted);
    weft_sender_wake();
}

static void look_at_all(JNIEnv *env, jthread self, jthread *threads, jint count) {
    jvmtiEnv *ti = weft_jvm.ti;
    struct weft_look *looks = NULL;
    size_t look_count = 0;
    struct candidate *list = calloc((size_t)count + 1, sizeof *list);
    if (list == NULL || !weft_look(weft_sender_wake, &looks, &look_count)) {
        free(list);
        return;
    }
    int64_t time = weft_clock();
    for (jint i = 0; i < count; i++) {
        struct candidate *c = &list[i];
        c->thread = threads[i];
        c->found.thread = weft_thread_id(env, threads[i]);
        (*ti)->GetObjectHashCode(ti, threads[i], &c->hash);
        if (!(*env)->IsSameObject(env, threads[i], self)) {
            weft_announce(env, threads[i], c->found.thread, false);
            struct weft_look look = weft_look_at(looks, look_count, c->found.thread);
            examine(env, c, &look);
        }
    }
    find_monitors(env, list, count);
    for (jint i = 0; i < count; i++) {
        const struct weft_record *r = &list[i].found.record;
        list[i].waits =
            list[i].waits && (r->kind == WEFT_EV_SLEEP_START || weft_class_wanted(r->class_id));
    }
    weft_watch_begin();
    for (jint i = 0; i < count; i++) {
        struct weft_look look = weft_look_at(looks, look_count, list[i].found.thread);
        // Those whose last event is the beginning will write the end themselves.
        if (list[i].waits && look.kind != list[i].found.record.kind &&
            list[i].found.record.kind != WEFT_EV_CONTENDED_ENTER) {
            weft_watch_add(env, list[i].thread, &list[i].found);
        }
    }
    weft_watch_end();
    post(list, count, time);
    free(looks);
    free(list);
}

void weft_snapshot_take(JNIEnv *env) {
    jvmtiEnv *ti = weft_jvm.ti;
    jthread self = NULL;
    jint count = 0;
    jthread *threads = NULL;
    bool was = weft_self_hide(true);
    if ((*ti)->GetCurrentThread(ti, &self) == JVMTI_ERROR_NONE &&
        (*ti)->GetAllThreads(ti, &count, &threads) == JVMTI_ERROR_NONE) {
        look_at_all(env, self, threads, count);
        for (jint i = 0; i < count; i++) {
            (*env)->DeleteLocalRef(env, threads[i]);
        }
        weft_deallocate(threads);
    }
    if (self != NULL) {
        (*env)->DeleteLocalRef(env, self);
    }
    weft_self_hide(was);
}
