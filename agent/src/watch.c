// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// When do states end that no hook sees end? See watch.h, and snapshot.h for its thread.

#include "watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "jvm.h"
#include "self.h"
#include "sender.h"
#include "snapshot.h"

#define MILLISECOND ((int64_t)1000000)

// At most every hundredth nanosecond is spent on looking, and not more often than this.
enum { LEAST_PAUSE_MS = 10, SHARE = 100, GONE_PATIENCE_MS = 200 };

// Between snapshots there is so many times what the last one took, however often they are asked
// for: those that are asked for meanwhile are one.
enum { SNAPSHOT_SHARE = 10 };

struct watched {
    jobject thread; // global
    struct weft_found found;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool alive;   // the thread runs
    bool wanted;  // a snapshot
    bool added;   // there are new ones to watch
    int64_t next; // when the next one may be taken
    bool stop;

    pthread_mutex_t list_mutex; // guards the rest; held while Java may run, so never by others long
    struct watched *list;
    size_t count;
    size_t cap;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .list_mutex = PTHREAD_MUTEX_INITIALIZER};

static void forget(JNIEnv *env, size_t i) {
    (*env)->DeleteGlobalRef(env, watch.list[i].thread);
    watch.list[i] = watch.list[--watch.count];
}

static void forget_all(JNIEnv *env) {
    pthread_mutex_lock(&watch.list_mutex);
    while (watch.count > 0) {
        forget(env, watch.count - 1);
    }
    pthread_mutex_unlock(&watch.list_mutex);
}

static JNIEnv *current_env(void) {
    JNIEnv *env = NULL;
    return (*weft_jvm.vm)->GetEnv(weft_jvm.vm, (void **)&env, JNI_VERSION_1_6) == JNI_OK ? env
                                                                                         : NULL;
}

void weft_watch_begin(void) {
    pthread_mutex_lock(&watch.list_mutex);
    JNIEnv *env = current_env();
    while (env != NULL && watch.count > 0) {
        forget(env, watch.count - 1);
    }
}

void weft_watch_add(JNIEnv *env, jthread thread, const struct weft_found *found) {
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
        watch.list[watch.count++] = (struct watched){global, *found};
    } else {
        weft_clear_exception(env);
    }
}

static void ensure_thread(void);

void weft_watch_end(void) {
    bool some = watch.count > 0;
    pthread_mutex_unlock(&watch.list_mutex);
    if (some) {
        pthread_mutex_lock(&watch.mutex);
        watch.added = true;
        ensure_thread();
        pthread_mutex_unlock(&watch.mutex);
    }
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

// Those that are no longer in the state they were found in have left it, and have done nothing else
// since: otherwise their history has gone on, and the sender does not take this.
static size_t collect_ended(JNIEnv *env, struct weft_found *ended) {
    jvmtiEnv *ti = weft_jvm.ti;
    size_t count = 0;
    for (size_t i = 0; i < watch.count;) {
        struct weft_found *found = &watch.list[i].found;
        jint state = 0;
        bool known = (*ti)->GetThreadState(ti, watch.list[i].thread, &state) == JVMTI_ERROR_NONE;
        uint16_t kind = weft_kind_of_state(state);
        // Behind a wait the thread may block on the monitor: the wait is not over yet.
        bool reenters =
            kind == WEFT_EV_CONTENDED_ENTER && state_kind(found->record.kind) == WEFT_EV_WAIT;
        if (known && (kind == state_kind(found->record.kind) || reenters)) {
            i++;
            continue;
        }
        if (known && (state & JVMTI_THREAD_STATE_ALIVE) != 0) {
            ended[count] = *found;
            ended[count].record = (struct weft_record){.time = weft_clock(),
                                                       .hash = found->record.hash,
                                                       .class_id = found->record.class_id,
                                                       .kind = end_of(found->record.kind),
                                                       .flags = WEFT_FLAG_SNAPSHOT};
            if (found->record.kind == WEFT_EV_PARK || found->record.kind == WEFT_EV_SLEEP_START) {
                ended[count].record.hash = ended[count].record.class_id = 0;
            }
            count++;
        }
        forget(env, i);
    }
    return count;
}

static bool look(JNIEnv *env) {
    pthread_mutex_lock(&watch.list_mutex);
    struct weft_found *ended = calloc(watch.count + 1, sizeof *ended);
    size_t count = ended == NULL ? 0 : collect_ended(env, ended);
    bool more = watch.count > 0;
    pthread_mutex_unlock(&watch.list_mutex);
    weft_found_post(ended, count);
    if (count > 0) {
        weft_sender_wake();
    }
    return more;
}

// Sleeps for a while, or until something changes; called with the mutex held.
static void sleep_for(int64_t nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    nanoseconds += until.tv_nsec;
    until.tv_sec += nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    pthread_cond_timedwait(&watch.changed, &watch.mutex, &until);
}

// Called with the mutex held: from here on a request starts another thread.
static void leave(void) {
    watch.alive = false;
    pthread_cond_broadcast(&watch.changed);
}

// Sleeps until a snapshot is due or the time is over. False if there is nothing more to do, and the
// thread has left; or if it is stopped.
static bool pause_for(int64_t nanoseconds, bool watching, bool *snapshot, bool *stopped) {
    pthread_mutex_lock(&watch.mutex);
    watching = watching || watch.added;
    watch.added = false;
    int64_t end = weft_clock() + nanoseconds;
    for (;;) {
        int64_t now = weft_clock();
        *snapshot = watch.wanted && now >= watch.next;
        if (watch.stop || *snapshot || !(watching || watch.wanted) || (watching && now >= end)) {
            break;
        }
        bool later = watch.wanted && (!watching || watch.next < end);
        sleep_for((later ? watch.next : end) - now);
    }
    *stopped = watch.stop;
    watch.wanted = watch.wanted && !*snapshot;
    bool go_on = !watch.stop && (*snapshot || watching);
    if (!go_on && !watch.stop) {
        leave();
    }
    pthread_mutex_unlock(&watch.mutex);
    return go_on;
}

// Leaves after a stop: what was watched is forgotten before, so that it is not what the next
// session finds. False if that has begun, and has something to do already.
static bool leave_stopped(JNIEnv *env) {
    forget_all(env);
    pthread_mutex_lock(&watch.mutex);
    bool more = !watch.stop && (watch.wanted || watch.added);
    if (!more) {
        leave();
    }
    pthread_mutex_unlock(&watch.mutex);
    return !more;
}

static int64_t pause_after(int64_t cost) {
    int64_t least = LEAST_PAUSE_MS * MILLISECOND;
    return cost * SHARE > least ? cost * SHARE : least;
}

static void *run(void *nothing) {
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "weft-snapshot", NULL};
    bool snapshot = false;
    bool watching = true;
    int64_t cost = 0;
    (void)nothing;
    weft_self_hide(true); // before the JVM reports that this thread starts
    if ((*weft_jvm.vm)->AttachCurrentThreadAsDaemon(weft_jvm.vm, (void **)&env, &args) != JNI_OK) {
        pthread_mutex_lock(&watch.mutex);
        leave();
        pthread_mutex_unlock(&watch.mutex);
        return NULL;
    }
    bool stopped = false;
    while (pause_for(pause_after(cost), watching, &snapshot, &stopped) ||
           (stopped && !leave_stopped(env))) {
        if (stopped) {
            watching = false; // but for what was added
            continue;
        }
        int64_t before = weft_clock();
        if (snapshot) {
            weft_snapshot_take(env);
            int64_t after = weft_clock();
            pthread_mutex_lock(&watch.mutex);
            watch.next = after + (after - before) * SNAPSHOT_SHARE;
            pthread_mutex_unlock(&watch.mutex);
            before = after;
        }
        watching = look(env);
        cost = weft_clock() - before;
    }
    (*weft_jvm.vm)->DetachCurrentThread(weft_jvm.vm);
    return NULL;
}

// Called with the mutex held.
static void ensure_thread(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t old;
    if (watch.alive || watch.stop) {
        pthread_cond_broadcast(&watch.changed);
        return;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)1024 * 1024); // it calls Java
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    watch.alive = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
}

void weft_snapshot_request(void) {
    pthread_mutex_lock(&watch.mutex);
    watch.wanted = true;
    ensure_thread();
    pthread_mutex_unlock(&watch.mutex);
}

void weft_snapshot_start(void) {
    pthread_mutex_lock(&watch.mutex);
    watch.stop = false;
    pthread_mutex_unlock(&watch.mutex);
}

void weft_snapshot_stop(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GONE_PATIENCE_MS * MILLISECOND;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&watch.mutex);
    watch.stop = true;
    watch.wanted = false;
    pthread_cond_broadcast(&watch.changed);
    while (watch.alive && pthread_cond_timedwait(&watch.changed, &watch.mutex, &until) == 0) {
    }
    pthread_mutex_unlock(&watch.mutex);
}
