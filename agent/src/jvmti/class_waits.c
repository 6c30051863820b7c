// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/class_waits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "hotspot/initializing.h"
#include "hotspot/jvm.h"
#include "options/settings.h"
#include "record/identity.h"
#include "record/self.h"
#include "record/stacks.h"
#include "record/thread_info.h"
#include "send/findings.h"
#include "send/sender.h"
#include "wire/clock.h"

enum { WAITS = 64 }; // at the same time; further ones are not recorded

#define PAUSE ((int64_t)20000000)

// A wait for a class. It is in the list from the first look until the thread no longer waits.
struct wait {
    struct weft_initializing is; // without a structure: free
    uint32_t class_id;
    bool begun; // its beginning is recorded, or about to be
    bool over;  // the thread has passed its end
};

static struct {
    pthread_mutex_t mutex; // its holder makes no JVM calls
    struct wait list[WAITS];
    int64_t next;
} waits = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// The wait of a thread for a class, or a free place for it; NULL: none.
static struct wait *find(uintptr_t structure, uintptr_t class, bool *new) {
    struct wait *room = NULL;
    *new = false;
    for (size_t i = 0; i < WAITS; i++) {
        struct wait *w = &waits.list[i];
        if (w->is.structure == structure && w->is.class == class) {
            return w;
        }
        if (w->is.structure == 0) {
            room = w;
        }
    }
    *new = room != NULL;
    return room;
}

static bool is_in(const struct wait *w, const struct weft_initializing *found, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (found[i].structure == w->is.structure && found[i].class == w->is.class) {
            return true;
        }
    }
    return false;
}

bool weft_class_waits_due(int64_t now) {
    static struct weft_initializing found[WAITS];
    bool due = false;
    bool new;
    if (now < waits.next || !weft_settings_wanted(WEFT_EV_CONTENDED_ENTER) ||
        weft_settings_aggregated()) {
        return false;
    }
    waits.next = now + PAUSE;
    size_t count = weft_initializing_find(found, WAITS);
    pthread_mutex_lock(&waits.mutex);
    for (size_t i = 0; i < WAITS; i++) {
        if (waits.list[i].is.structure != 0 && !is_in(&waits.list[i], found, count)) {
            waits.list[i] = (struct wait){0};
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct wait *w = find(found[i].structure, found[i].class, &new);
        if (found[i].holder == 0 && new) {
            continue; // it will be over
        }
        if (new) {
            *w = (struct wait){.is = found[i]};
        }
        due = due || (w != NULL && !w->begun && !w->over);
    }
    pthread_mutex_unlock(&waits.mutex);
    return due;
}

static uint32_t hash_of(uintptr_t class) {
    return (uint32_t)(class / sizeof class);
}

static uint32_t class_of(const struct weft_initializing *is) {
    char name[sizeof is->name + sizeof ".<clinit>"];
    snprintf(name, sizeof name, "%s.<clinit>", is->name);
    return weft_identity_class_by_name(name);
}

// Announces that the beginning will be recorded: from here on the thread records the end. False if
// the thread is already there.
static bool begin(const struct wait *wait) {
    bool new;
    pthread_mutex_lock(&waits.mutex);
    struct wait *w = find(wait->is.structure, wait->is.class, &new);
    bool ok = w != NULL && !new && !w->begun && !w->over;
    if (ok) {
        w->class_id = wait->class_id;
        w->begun = true;
    }
    pthread_mutex_unlock(&waits.mutex);
    return ok && weft_initializing_waits(wait->is.structure, wait->is.class);
}

static bool describe(JNIEnv *env, jthread thread, struct wait *wait, const struct weft_look *look,
                     struct weft_finding *finding) {
    if (!look->idle || !weft_thread_info_wanted(env, thread)) {
        return false;
    }
    struct weft_record *r = &finding->record;
    weft_thread_info_announce(env, thread, wait->is.thread, false);
    wait->class_id = class_of(&wait->is);
    finding->thread = wait->is.thread;
    finding->position = look->position;
    r->kind = WEFT_EV_CONTENDED_ENTER;
    r->flags = WEFT_FLAG_SNAPSHOT;
    r->peer = wait->is.holder;
    r->class_id = wait->class_id;
    r->hash = hash_of(wait->is.class);
    r->stack = weft_stacks_of(env, thread, weft_settings_depth(WEFT_PLACE_BLOCK));
    r->time = weft_clock();
    return weft_identity_class_wanted(r->class_id) && begin(wait);
}

// The waits whose beginnings are not recorded yet.
static size_t copy_new(struct wait *list) {
    size_t count = 0;
    pthread_mutex_lock(&waits.mutex);
    for (size_t i = 0; i < WAITS; i++) {
        const struct wait *w = &waits.list[i];
        if (w->is.structure != 0 && !w->begun && !w->over) {
            list[count++] = *w;
        }
    }
    pthread_mutex_unlock(&waits.mutex);
    return count;
}

// Returns how many beginnings were found.
static size_t find_beginnings(JNIEnv *env, struct wait *list, size_t count,
                              struct weft_finding *found) {
    jvmtiEnv *ti = weft_jvm.ti;
    struct weft_look *looks = NULL;
    size_t look_count = 0;
    size_t posted = 0;
    jint thread_count = 0;
    jthread *threads = NULL;
    if (!weft_findings_look(weft_sender_wake, &looks, &look_count) ||
        (*ti)->GetAllThreads(ti, &thread_count, &threads) != JVMTI_ERROR_NONE) {
        free(looks);
        return 0;
    }
    for (jint t = 0; t < thread_count; t++) {
        uint64_t id = weft_jvm_thread_id(env, threads[t]);
        for (size_t i = 0; i < count; i++) {
            struct weft_look look = weft_findings_look_at(looks, look_count, id);
            if (list[i].is.thread == id &&
                describe(env, threads[t], &list[i], &look, &found[posted])) {
                posted++;
            }
        }
        (*env)->DeleteLocalRef(env, threads[t]);
    }
    weft_jvm_deallocate(threads);
    free(looks);
    return posted;
}

void weft_class_waits_take(JNIEnv *env) {
    struct wait *list = calloc(WAITS, sizeof *list);
    struct weft_finding *found = calloc(WAITS, sizeof *found);
    bool was = weft_self_hide(true);
    size_t count = list == NULL || found == NULL ? 0 : copy_new(list);
    size_t posted = count == 0 ? 0 : find_beginnings(env, list, count, found);
    weft_findings_post(found, posted);
    weft_sender_wake();
    weft_self_hide(was);
    free(list);
}

void weft_class_waits_forget(void) {
    pthread_mutex_lock(&waits.mutex);
    for (size_t i = 0; i < WAITS; i++) {
        waits.list[i].begun = false;
    }
    pthread_mutex_unlock(&waits.mutex);
}

bool weft_class_waits_end(JNIEnv *env, struct weft_record *end) {
    uintptr_t structure;
    uintptr_t class;
    bool new;
    if (!weft_initializing_self(env, &structure, &class)) {
        return false;
    }
    pthread_mutex_lock(&waits.mutex);
    struct wait *w = find(structure, class, &new);
    if (new) {
        *w = (struct wait){.is = {.structure = structure, .class = class}};
    }
    bool begun = w != NULL && w->begun;
    if (w != NULL) {
        w->over = true;
        end->class_id = w->class_id;
        end->hash = hash_of(class);
        end->peer = w->is.holder;
    }
    pthread_mutex_unlock(&waits.mutex);
    return begun;
}
