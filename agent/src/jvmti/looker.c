// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/looker.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "hotspot/jvm.h"
#include "record/self.h"
#include "wire/clock.h"
#include "wire/thread.h"

#define MILLISECOND ((int64_t)1000000)

// Looks for at most a hundredth of the processor time, averaged over a second, and at most this
// often. It may use the share of a second at once, because the first stacks cost most.
enum { LEAST_PAUSE_MS = 10, SHARE = 100, SECOND_MS = 1000, GONE_PATIENCE_MS = 200 };

struct weft_looker {
    struct weft_look_in in;
    const struct weft_looks *looks;
    atomic_int users; // the thread and the session; the last one frees it
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool gone;   // the thread has ended; guarded by the mutex
    int64_t due; // when it may look again; the past while it has used less than its share
};

static int64_t used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_once(void) {
    const struct timespec step = {.tv_nsec = LEAST_PAUSE_MS * MILLISECOND};
    nanosleep(&step, NULL);
}

static void pause_after(struct weft_looker *l, int64_t cost) {
    int64_t oldest = weft_clock() - SECOND_MS * MILLISECOND;
    l->due = (l->due < oldest ? oldest : l->due) + cost * SHARE;
    do {
        pause_once();
    } while (weft_clock() < l->due && !atomic_load(&l->in.stop));
}

static void await(const struct weft_looker *l) {
    if (l->looks->await != NULL) {
        l->looks->await(&l->in);
    }
}

static void look_until_stopped(JNIEnv *env, struct weft_looker *l, void *state) {
    int64_t before = used();
    while (!atomic_load(&l->in.stop)) {
        l->looks->look(env, state, &l->in);
        int64_t now = used();
        pause_after(l, now - before); // which costs something, too
        before = now;
        await(l);
    }
}

// The JVM refuses threads until it has started.
static bool attach(struct weft_looker *l, JNIEnv **env) {
    JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)l->looks->name, NULL};
    weft_self_hide(true); // before the JVM reports the start of this thread
    while (!atomic_load(&l->in.stop)) {
        if ((*weft_jvm.vm)->AttachCurrentThreadAsDaemon(weft_jvm.vm, (void **)env, &args) ==
            JNI_OK) {
            return true;
        }
        pause_once();
    }
    return false;
}

static void drop(struct weft_looker *l) {
    if (atomic_fetch_sub(&l->users, 1) == 1) {
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->mutex);
        free(l);
    }
}

static void *run(void *argument) {
    struct weft_looker *l = argument;
    JNIEnv *env = NULL;
    pthread_setname_np(pthread_self(), l->looks->name);
    await(l);
    if (attach(l, &env)) {
        void *state = l->looks->begin(env);
        if (state != NULL) {
            look_until_stopped(env, l, state);
            l->looks->end(state);
        }
        (*weft_jvm.vm)->DetachCurrentThread(weft_jvm.vm);
    }
    pthread_mutex_lock(&l->mutex);
    l->gone = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
    drop(l);
    return NULL;
}

struct weft_looker *weft_looker_start(const struct weft_looks *looks) {
    struct weft_looker *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return NULL;
    }
    l->looks = looks;
    l->in.began = weft_clock();
    pthread_mutex_init(&l->mutex, NULL);
    weft_clock_condition(&l->changed);
    atomic_store(&l->users, 2);
    if (!weft_thread_start(run, l, (size_t)1024 * 1024)) { // attaching runs Java code
        atomic_store(&l->users, 1);
        drop(l);
        return NULL;
    }
    return l;
}

void weft_looker_stop(struct weft_looker *l) {
    if (l == NULL) {
        return;
    }
    int64_t until = weft_clock() + GONE_PATIENCE_MS * MILLISECOND;
    pthread_mutex_lock(&l->mutex);
    atomic_store(&l->in.stop, true);
    if (l->looks->wake != NULL) {
        l->looks->wake();
    }
    while (!l->gone && weft_clock_await(&l->changed, &l->mutex, until)) {
    }
    pthread_mutex_unlock(&l->mutex);
    drop(l);
}
