// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/watch.h"

#include <pthread.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "send/sender.h"
#include "wire/clock.h"

struct watched {
    jobject thread; // global
    struct weft_finding finding;
};

// The mutex is held while Java may run, so other threads must not hold it for long.
static struct {
    pthread_mutex_t mutex;
    struct watched *list;
    size_t count;
    size_t cap;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER};

uint16_t weft_watch_kind(jint state) {
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

static void forget(JNIEnv *env, size_t i) {
    (*env)->DeleteGlobalRef(env, watch.list[i].thread);
    watch.list[i] = watch.list[--watch.count];
}

static void forget_all(JNIEnv *env) {
    while (watch.count > 0) {
        forget(env, watch.count - 1);
    }
}

void weft_watch_begin(JNIEnv *env) {
    pthread_mutex_lock(&watch.mutex);
    forget_all(env);
}

void weft_watch_add(JNIEnv *env, jthread thread, const struct weft_finding *finding) {
    if (watch.count == watch.cap) {
        size_t cap = watch.cap == 0 ? 64 : watch.cap * 2;
        struct watched *grown = realloc(watch.list, cap * sizeof *grown);
        if (grown == NULL) {
            return;
        }
        watch.list = grown;
        watch.cap = cap;
    }
    jobject global = (*env)->NewGlobalRef(env, thread);
    if (global != NULL) {
        watch.list[watch.count++] = (struct watched){global, *finding};
    } else {
        weft_jvm_clear_exception(env);
    }
}

bool weft_watch_end(void) {
    bool some = watch.count > 0;
    pthread_mutex_unlock(&watch.mutex);
    return some;
}

void weft_watch_clear(JNIEnv *env) {
    pthread_mutex_lock(&watch.mutex);
    forget_all(env);
    pthread_mutex_unlock(&watch.mutex);
}

static uint16_t end_of(uint16_t kind) {
    switch (kind) {
    case WEFT_EV_WAIT:
        return WEFT_EV_WAIT_RETURNED;
    case WEFT_EV_JOIN_START:
        return WEFT_EV_JOIN_END;
    case WEFT_EV_PARK:
        return WEFT_EV_UNPARKED;
    default:
        return WEFT_EV_SLEEP_END;
    }
}

static uint16_t state_kind(uint16_t kind) {
    return kind == WEFT_EV_JOIN_START ? WEFT_EV_WAIT : kind;
}

// Threads that are no longer in the state they were found in have left it. If they did anything
// since, the sender rejects the finding.
static size_t collect_ended(JNIEnv *env, struct weft_finding *ended) {
    jvmtiEnv *ti = weft_jvm.ti;
    size_t count = 0;
    for (size_t i = 0; i < watch.count;) {
        struct weft_finding *finding = &watch.list[i].finding;
        jint state = 0;
        bool known = (*ti)->GetThreadState(ti, watch.list[i].thread, &state) == JVMTI_ERROR_NONE;
        uint16_t kind = weft_watch_kind(state);
        // After a wait the thread may block on the monitor: the wait is not over yet.
        bool reenters =
            kind == WEFT_EV_CONTENDED_ENTER && state_kind(finding->record.kind) == WEFT_EV_WAIT;
        if (known && (kind == state_kind(finding->record.kind) || reenters)) {
            i++;
            continue;
        }
        if (known && (state & JVMTI_THREAD_STATE_ALIVE) != 0) {
            ended[count] = *finding;
            ended[count].record = (struct weft_record){.time = weft_clock(),
                                                       .hash = finding->record.hash,
                                                       .class_id = finding->record.class_id,
                                                       .kind = end_of(finding->record.kind),
                                                       .flags = WEFT_FLAG_SNAPSHOT};
            if (finding->record.kind == WEFT_EV_PARK ||
                finding->record.kind == WEFT_EV_SLEEP_START) {
                ended[count].record.hash = ended[count].record.class_id = 0;
            }
            count++;
        }
        forget(env, i);
    }
    return count;
}

bool weft_watch_poll(JNIEnv *env) {
    pthread_mutex_lock(&watch.mutex);
    struct weft_finding *ended = calloc(watch.count + 1, sizeof *ended);
    size_t count = ended == NULL ? 0 : collect_ended(env, ended);
    bool more = watch.count > 0;
    pthread_mutex_unlock(&watch.mutex);
    weft_findings_post(ended, count);
    if (count > 0) {
        weft_sender_wake();
    }
    return more;
}
