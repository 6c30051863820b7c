// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/running.h"

#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "hotspot/jvm.h"
#include "jvmti/carried.h"
#include "options/settings.h"
#include "record/buffer.h"
#include "record/mounts.h"
#include "record/record.h"
#include "record/self.h"
#include "record/stacks.h"
#include "record/thread_refs.h"
#include "wire/clock.h"

#define MILLISECOND ((int64_t)1000000)

// Looks for at most a hundredth of the processor time, averaged over a second, and at most this
// often. It may use the share of a second at once, because the first stacks cost most.
enum { LEAST_PAUSE_MS = 10, SHARE = 100, SECOND_MS = 1000, GONE_PATIENCE_MS = 200 };

// The age of a mount at its first event; further ones follow when the age has doubled.
enum { FIRST_AGE_MS = 20 };

// As for the stacks of owners (owner_stack.h): each stops its thread for a moment.
enum { STACKS_PER_SECOND = 50 };

// What the thread knows of a place.
struct watched {
    int64_t since; // of the mount
    int64_t due;   // age at its next event
};

// A thread of its own for each session: one that hangs does not delay the next.
struct looker {
    atomic_bool stop;
    atomic_int users; // the thread and the session; the last one frees it
    int64_t began;
    int64_t due; // when it may look again; the past while it has used less than its share
    size_t next; // the place to begin with, so that the limit affects all alike
    struct weft_buffer *buffer;
    struct watched watched[WEFT_CARRIERS];
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct looker *current;
    bool gone; // its thread has ended
} looking = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Atomic int64_t next_stack;

// The stack of the thread that a carrier carries, if it is the expected one; 0 otherwise.
static uint32_t stack_of(JNIEnv *env, const struct weft_mount *mount) {
    uint32_t stack = 0;
    jthread carrier = weft_thread_refs_find(env, mount->carrier);
    jthread thread = carrier == NULL ? NULL : weft_carried_on(env, carrier);
    if (thread != NULL && weft_jvm_thread_id(env, thread) == mount->thread) {
        int depth = weft_settings_depth(WEFT_PLACE_BLOCK);
        stack = weft_stacks_of(env, thread, weft_record_virtual_depth(depth));
    }
    (*env)->DeleteLocalRef(env, thread);
    (*env)->DeleteLocalRef(env, carrier);
    return stack;
}

// The mount is verified after the stack was taken and the clock was read: so the stack is that of
// this mount, and the event comes before the unmount.
static void record(struct looker *l, size_t place, const struct weft_mount *mount, uint32_t stack) {
    struct weft_record r = {.kind = WEFT_EV_RUNNING,
                            .peer = mount->carrier,
                            .stack = stack,
                            .flags = WEFT_FLAG_VIRTUAL};
    weft_buffer_begin(l->buffer);
    r.time = weft_clock();
    r.arg = r.time - mount->since;
    if (weft_mounts_still(place, mount)) {
        weft_buffer_write(l->buffer, &r, mount->thread);
    }
    weft_buffer_end(l->buffer);
}

// False if no more stacks may be taken now.
static bool look_at(JNIEnv *env, struct looker *l, size_t place, int64_t now) {
    struct weft_mount mount;
    struct watched *w = &l->watched[place];
    if (!weft_mounts_look(place, &mount) || mount.since < l->began) {
        return true;
    }
    if (w->since != mount.since) {
        *w = (struct watched){mount.since, FIRST_AGE_MS * MILLISECOND};
    }
    if (now - mount.since < w->due) {
        return true;
    }
    if (!weft_clock_allow(&next_stack, STACKS_PER_SECOND)) {
        return false;
    }
    uint32_t stack = stack_of(env, &mount);
    if (stack != 0 && atomic_load(&weft_tracing) && weft_settings_wanted(WEFT_EV_RUNNING)) {
        record(l, place, &mount, stack);
    }
    int64_t age = weft_clock() - mount.since;
    while (w->due <= age) {
        w->due *= 2;
    }
    return true;
}

static void look(JNIEnv *env, struct looker *l) {
    size_t size = weft_mounts_size();
    int64_t now = weft_clock();
    for (size_t i = 0; i < size && !atomic_load(&l->stop); i++) {
        size_t place = (l->next + i) % size;
        if (!look_at(env, l, place, now)) {
            l->next = place;
            return;
        }
    }
}

static int64_t used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pause_after(struct looker *l, int64_t cost) {
    int64_t oldest = weft_clock() - SECOND_MS * MILLISECOND;
    l->due = (l->due < oldest ? oldest : l->due) + cost * SHARE;
    const struct timespec step = {.tv_nsec = LEAST_PAUSE_MS * MILLISECOND};
    do {
        nanosleep(&step, NULL);
    } while (weft_clock() < l->due && !atomic_load(&l->stop));
}

static void look_until_stopped(JNIEnv *env, struct looker *l) {
    while (!atomic_load(&l->stop)) {
        int64_t before = used();
        look(env, l);
        pause_after(l, used() - before);
        weft_mounts_await(l->began, &l->stop);
    }
}

static void drop(struct looker *l) {
    if (atomic_fetch_sub(&l->users, 1) == 1) {
        free(l);
    }
}

static void *run(void *argument) {
    struct looker *l = argument;
    JNIEnv *env = NULL;
    JavaVMAttachArgs args = {JNI_VERSION_1_6, "weft-carriers", NULL};
    weft_self_hide(true); // before the JVM reports the start of this thread
    weft_mounts_await(l->began, &l->stop);
    if (!atomic_load(&l->stop) &&
        (*weft_jvm.vm)->AttachCurrentThreadAsDaemon(weft_jvm.vm, (void **)&env, &args) == JNI_OK) {
        l->buffer = weft_carried_init(env) ? weft_buffer_open(0) : NULL;
        if (l->buffer != NULL) {
            look_until_stopped(env, l);
            weft_buffer_close(l->buffer);
        }
        (*weft_jvm.vm)->DetachCurrentThread(weft_jvm.vm);
    }
    pthread_mutex_lock(&looking.mutex);
    looking.gone = looking.gone || looking.current == l;
    pthread_cond_broadcast(&looking.changed);
    pthread_mutex_unlock(&looking.mutex);
    drop(l);
    return NULL;
}

void weft_running_start(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t old;
    struct looker *l = calloc(1, sizeof *l);
    if (l == NULL) {
        return;
    }
    l->began = weft_clock();
    atomic_store(&l->users, 2);
    looking.current = l;
    looking.gone = false;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, (size_t)1024 * 1024); // attaching runs Java code
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(&thread, &attributes, run, l) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    if (!ok) {
        looking.current = NULL;
        free(l);
    }
}

void weft_running_stop(void) {
    struct timespec until;
    struct looker *l = looking.current;
    if (l == NULL) {
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GONE_PATIENCE_MS * MILLISECOND;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&looking.mutex);
    atomic_store(&l->stop, true);
    weft_mounts_wake();
    while (!looking.gone && pthread_cond_timedwait(&looking.changed, &looking.mutex, &until) == 0) {
    }
    looking.current = NULL;
    pthread_mutex_unlock(&looking.mutex);
    drop(l);
}
