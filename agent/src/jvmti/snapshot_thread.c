// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/snapshot_thread.h"

#include <pthread.h>
#include <stdbool.h>

#include "hotspot/jvm.h"
#include "jvmti/class_waits.h"
#include "jvmti/snapshot.h"
#include "jvmti/watch.h"
#include "record/self.h"
#include "wire/clock.h"
#include "wire/thread.h"

#define MILLISECOND ((int64_t)1000000)

// Polls for at most a hundredth of the time, and at most this often.
enum { LEAST_PAUSE_MS = 10, SHARE = 100, GONE_PATIENCE_MS = 200 };

// The pause after a snapshot is this many times its duration; requests during the pause are
// combined.
enum { SNAPSHOT_SHARE = 10 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool alive;   // the thread runs
    bool wanted;  // a snapshot is requested
    bool classes; // threads wait for classes
    bool added;   // there are new threads to watch
    int64_t next; // when the next snapshot may be taken
    bool stop;
} snapshots = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// What the thread has to do besides polling.
struct todo {
    bool snapshot;
    bool classes;
    bool stopped;
};

// From here on, a request starts another thread. Called with the mutex held.
static void leave(void) {
    snapshots.alive = false;
    pthread_cond_broadcast(&snapshots.changed);
}

// Sleeps until a snapshot is due or the time is over. False if there is nothing more to do, and the
// thread has left; or if it is stopped.
static bool pause_for(int64_t nanoseconds, bool watching, struct todo *todo) {
    pthread_mutex_lock(&snapshots.mutex);
    watching = watching || snapshots.added;
    snapshots.added = false;
    int64_t end = weft_clock() + nanoseconds;
    for (;;) {
        int64_t now = weft_clock();
        todo->snapshot = snapshots.wanted && now >= snapshots.next;
        todo->classes = snapshots.classes;
        if (snapshots.stop || todo->snapshot || todo->classes || !(watching || snapshots.wanted) ||
            (watching && now >= end)) {
            break;
        }
        bool later = snapshots.wanted && (!watching || snapshots.next < end);
        weft_clock_await(&snapshots.changed, &snapshots.mutex, later ? snapshots.next : end);
    }
    todo->stopped = snapshots.stop;
    snapshots.wanted = snapshots.wanted && !todo->snapshot;
    snapshots.classes = false;
    bool go_on = !snapshots.stop && (todo->snapshot || todo->classes || watching);
    if (!go_on && !snapshots.stop) {
        leave();
    }
    pthread_mutex_unlock(&snapshots.mutex);
    return go_on;
}

// Leaves after a stop. Clears the watched threads first, so that the next session does not find
// them. False if that session has begun and has work already.
static bool leave_stopped(JNIEnv *env) {
    weft_watch_clear(env);
    pthread_mutex_lock(&snapshots.mutex);
    bool more = !snapshots.stop && (snapshots.wanted || snapshots.classes || snapshots.added);
    if (!more) {
        leave();
    }
    pthread_mutex_unlock(&snapshots.mutex);
    return !more;
}

static int64_t pause_after(int64_t cost) {
    int64_t least = LEAST_PAUSE_MS * MILLISECOND;
    return cost * SHARE > least ? cost * SHARE : least;
}

static void ensure_thread(void);

void weft_snapshot_thread_take(JNIEnv *env) {
    weft_class_waits_forget();
    if (weft_snapshot_take(env)) {
        pthread_mutex_lock(&snapshots.mutex);
        snapshots.added = true;
        ensure_thread();
        pthread_mutex_unlock(&snapshots.mutex);
    }
}

static void *run(void *nothing) {
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "weft-snapshot", NULL};
    struct todo todo;
    bool watching = true;
    int64_t cost = 0;
    (void)nothing;
    weft_self_hide(true); // before the JVM reports the start of this thread
    if ((*weft_jvm.vm)->AttachCurrentThreadAsDaemon(weft_jvm.vm, (void **)&env, &args) != JNI_OK) {
        pthread_mutex_lock(&snapshots.mutex);
        leave();
        pthread_mutex_unlock(&snapshots.mutex);
        return NULL;
    }
    while (pause_for(pause_after(cost), watching, &todo) || (todo.stopped && !leave_stopped(env))) {
        if (todo.stopped) {
            watching = false; // except for what was added
            continue;
        }
        int64_t before = weft_clock();
        if (todo.classes) {
            weft_class_waits_take(env);
        }
        if (todo.snapshot) {
            weft_snapshot_thread_take(env);
            int64_t after = weft_clock();
            pthread_mutex_lock(&snapshots.mutex);
            snapshots.next = after + (after - before) * SNAPSHOT_SHARE;
            pthread_mutex_unlock(&snapshots.mutex);
            before = after;
        }
        watching = weft_watch_poll(env);
        cost = weft_clock() - before;
    }
    (*weft_jvm.vm)->DetachCurrentThread(weft_jvm.vm);
    return NULL;
}

// Called with the mutex held.
static void ensure_thread(void) {
    if (snapshots.alive || snapshots.stop) {
        pthread_cond_broadcast(&snapshots.changed);
        return;
    }
    snapshots.alive = weft_thread_start(run, NULL, (size_t)1024 * 1024); // it calls Java
}

void weft_snapshot_thread_request(void) {
    pthread_mutex_lock(&snapshots.mutex);
    snapshots.wanted = true;
    ensure_thread();
    pthread_mutex_unlock(&snapshots.mutex);
}

void weft_snapshot_thread_look(void) {
    if (weft_class_waits_due(weft_clock())) {
        pthread_mutex_lock(&snapshots.mutex);
        snapshots.classes = true;
        ensure_thread();
        pthread_mutex_unlock(&snapshots.mutex);
    }
}

void weft_snapshot_thread_init(void) {
    weft_clock_condition(&snapshots.changed);
}

void weft_snapshot_thread_start(void) {
    pthread_mutex_lock(&snapshots.mutex);
    snapshots.stop = false;
    pthread_mutex_unlock(&snapshots.mutex);
}

void weft_snapshot_thread_stop(void) {
    int64_t until = weft_clock() + GONE_PATIENCE_MS * MILLISECOND;
    pthread_mutex_lock(&snapshots.mutex);
    snapshots.stop = true;
    snapshots.wanted = snapshots.classes = false;
    pthread_cond_broadcast(&snapshots.changed);
    while (snapshots.alive && weft_clock_await(&snapshots.changed, &snapshots.mutex, until)) {
    }
    pthread_mutex_unlock(&snapshots.mutex);
}
