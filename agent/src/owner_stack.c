// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where is the thread that owns the lock? See owner_stack.h.

#include "owner_stack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "jvm.h"
#include "settings.h"
#include "stacks.h"

struct reference {
    struct reference *next;
    uint64_t id;
    jweak thread;
    unsigned users; // who look at it, outside of the lock
    bool removed;   // the last of them frees it
};

enum { BUCKETS = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct reference *buckets[BUCKETS];
static _Atomic int64_t next_time;

jweak weft_owner_stack_add(JNIEnv *env, jthread thread, uint64_t id) {
    struct reference *r = calloc(1, sizeof *r);
    jweak weak = r == NULL ? NULL : (*env)->NewWeakGlobalRef(env, thread);
    if (weak == NULL) {
        weft_clear_exception(env);
        free(r);
        return NULL;
    }
    r->id = id;
    r->thread = weak;
    pthread_mutex_lock(&mutex);
    r->next = buckets[id % BUCKETS];
    buckets[id % BUCKETS] = r;
    pthread_mutex_unlock(&mutex);
    return weak;
}

static void delete (JNIEnv *env, struct reference *r) {
    if (r != NULL) {
        (*env)->DeleteWeakGlobalRef(env, r->thread);
        free(r);
    }
}

void weft_owner_stack_remove(JNIEnv *env, uint64_t id) {
    struct reference *found = NULL;
    pthread_mutex_lock(&mutex);
    for (struct reference **at = &buckets[id % BUCKETS]; *at != NULL; at = &(*at)->next) {
        if ((*at)->id == id) {
            found = *at;
            *at = found->next;
            break;
        }
    }
    if (found != NULL) {
        found->removed = true;
        found = found->users == 0 ? found : NULL;
    }
    pthread_mutex_unlock(&mutex);
    delete (env, found);
}

// The JVM is not asked with the lock held: it may suspend who asks, and the others would wait.
static jthread find(JNIEnv *env, uint64_t id) {
    pthread_mutex_lock(&mutex);
    struct reference *r = buckets[id % BUCKETS];
    while (r != NULL && r->id != id) {
        r = r->next;
    }
    if (r != NULL) {
        r->users++;
    }
    pthread_mutex_unlock(&mutex);
    if (r == NULL) {
        return NULL;
    }
    jthread found = (*env)->NewLocalRef(env, r->thread);
    pthread_mutex_lock(&mutex);
    bool last = --r->users == 0 && r->removed;
    pthread_mutex_unlock(&mutex);
    delete (env, last ? r : NULL);
    return found;
}

// A token bucket: up to a second's worth of questions at once.
static bool may_ask(int64_t now) {
    int64_t next = atomic_load_explicit(&next_time, memory_order_relaxed);
    int64_t after;
    do {
        if (next > now) {
            return false;
        }
        after =
            (next < now - 1000000000 ? now - 1000000000 : next) + 1000000000 / WEFT_OWNER_STACKS;
    } while (!atomic_compare_exchange_weak(&next_time, &next, after));
    return true;
}

void weft_owner_stack(JNIEnv *env, const struct weft_scope *scope, const struct weft_record *wait) {
    if (wait->peer == 0 || !weft_wanted(WEFT_EV_OWNER_STACK) || !may_ask(weft_clock())) {
        return;
    }
    jthread thread = find(env, wait->peer);
    if (thread == NULL) {
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_OWNER_STACK,
                            .peer = wait->peer,
                            .hash = wait->hash,
                            .class_id = wait->class_id};
    r.stack = weft_stack_of(env, thread, weft_depth(WEFT_PLACE_BLOCK));
    if (r.stack != 0) {
        weft_record_now(scope, &r);
    }
    (*env)->DeleteLocalRef(env, thread);
}
