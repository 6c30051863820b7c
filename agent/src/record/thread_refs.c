// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread_refs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "hotspot/jvm.h"

struct reference {
    struct reference *next;
    uint64_t id;
    jweak thread;
    unsigned users; // threads using it outside the lock
    bool removed;   // the last user frees it
};

enum { BUCKETS = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct reference *buckets[BUCKETS];

static struct reference *find(uint64_t id) {
    struct reference *r = buckets[id % BUCKETS];
    while (r != NULL && r->id != id) {
        r = r->next;
    }
    return r;
}

// Only the thread itself and the thread that lists older ones add it.
static jweak known(uint64_t id) {
    pthread_mutex_lock(&mutex);
    const struct reference *r = find(id);
    jweak weak = r == NULL ? NULL : r->thread;
    pthread_mutex_unlock(&mutex);
    return weak;
}

jweak weft_thread_refs_add(JNIEnv *env, jthread thread, uint64_t id) {
    jweak before = known(id);
    if (before != NULL) {
        return before;
    }
    struct reference *r = calloc(1, sizeof *r);
    jweak weak = r == NULL ? NULL : (*env)->NewWeakGlobalRef(env, thread);
    if (weak == NULL) {
        weft_jvm_clear_exception(env);
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

void weft_thread_refs_remove(JNIEnv *env, uint64_t id) {
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

// Calls the JVM without the lock: it may suspend the caller, and other threads would wait.
jthread weft_thread_refs_find(JNIEnv *env, uint64_t id) {
    pthread_mutex_lock(&mutex);
    struct reference *r = find(id);
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
