// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/self.h"

#include <stddef.h>

#include "hotspot/addresses.h"
#include "hotspot/jvm.h"
#include "hotspot/listing.h"
#include "hotspot/mounted.h"
#include "options/filter.h"
#include "options/settings.h"
#include "record/min_duration.h"
#include "record/roster.h"
#include "record/thread_info.h"
#include "record/thread_refs.h"
#include "record/tids.h"

static __thread struct weft_self self;

enum { REFRESH_NS = 1000000000, RENAME_NS = 10000000 };

void weft_self_refresh_name(JNIEnv *env, jthread thread, const struct weft_scope *scope) {
    jthread current = NULL;
    // Uses the time of the newest record to save a clock reading.
    if (scope->subject != 0 || (self.named != 0 && self.buffer->last < self.named + REFRESH_NS)) {
        return;
    }
    if (thread == NULL) {
        thread = current = weft_jvm_current_thread();
    }
    if (thread != NULL) {
        self.named = weft_clock();
        weft_thread_info_announce(env, thread, self.thread, false);
    }
    if (current != NULL) {
        (*env)->DeleteLocalRef(env, current);
    }
}

void weft_self_renamed(JNIEnv *env, jthread thread, const struct weft_scope *scope) {
    uint64_t id = weft_jvm_thread_id(env, thread);
    int64_t now = weft_clock();
    bool often = now < self.named + RENAME_NS;
    if (scope->subject == 0 && id == self.thread) {
        self.named = often ? 0 : now;
    }
    if (!often) {
        self.named = now;
        weft_thread_info_announce(env, thread, id, false);
    }
}

// Opens the buffer of the current platform thread.
static bool open_self(JNIEnv *env, jthread thread) {
    uint64_t id = weft_jvm_thread_id(env, thread);
    if (id == 0) {
        return false;
    }
    self.buffer = weft_buffer_open(id);
    if (self.buffer == NULL) {
        weft_buffer_lose_unbuffered(1);
        return false;
    }
    self.thread = id;
    self.carrier = weft_jvm_is_carrier(env, thread);
    self.named = weft_clock();
    weft_thread_info_announce(env, thread, id, false);
    weft_addresses_add(env, id);
    if (self.carrier) {
        weft_mounted_add(id);
    }
    weft_listing_seen(env, thread);
    self.object = weft_thread_refs_add(env, thread, id);
    if (!self.carrier) {
        weft_tids_enter(id, self.buffer);
    }
    return true;
}

// Determines the subject on a thread that has a buffer.
static void find_subject(JNIEnv *env, jthread thread, struct weft_scope *scope) {
    jthread current = NULL;
    if (thread == NULL) {
        current = self.carrier ? weft_jvm_current_thread() : NULL;
        if (current == NULL) {
            return;
        }
        thread = current;
    }
    uint64_t id = weft_jvm_thread_id(env, thread);
    if (id != self.thread) {
        scope->subject = id;
        if (self.virtual_seen[id % WEFT_VIRTUAL_SEEN] != id) {
            self.virtual_seen[id % WEFT_VIRTUAL_SEEN] = id;
            weft_thread_info_announce(env, thread, id, true);
        }
    }
    if (current != NULL) {
        (*env)->DeleteLocalRef(env, current);
    }
}

// Whether an ended thread is in fact a new one: a native thread can be attached to the JVM more
// than once, which is not reported without a session.
static bool is_another(JNIEnv *env) {
    if ((*env)->ExceptionCheck(env)) {
        return false;
    }
    jthread thread = weft_jvm_platform_thread(env);
    if (thread == NULL) {
        return false;
    }
    uint64_t id = weft_jvm_thread_id(env, thread);
    (*env)->DeleteLocalRef(env, thread);
    if (id == 0 || id == self.thread) {
        return false;
    }
    self = (struct weft_self){0};
    return true;
}

// Handles the first event of a thread older than the agent.
static bool open_late(JNIEnv *env, jthread thread) {
    jthread current = NULL;
    if (thread == NULL || weft_jvm.current_carrier != NULL) { // the thread may be virtual
        thread = current = weft_jvm_platform_thread(env);
    }
    bool ok = thread != NULL && open_self(env, thread);
    if (current != NULL) {
        (*env)->DeleteLocalRef(env, current);
    }
    return ok;
}

// Whether the current platform thread, which has no buffer yet, is a carrier. JVMTI may return the
// virtual thread that it carries.
static bool find_carrier(JNIEnv *env) {
    jthread thread = weft_jvm.current_carrier == NULL ? NULL : weft_jvm_platform_thread(env);
    bool carrier = thread != NULL && weft_jvm_is_carrier(env, thread);
    if (thread != NULL) {
        (*env)->DeleteLocalRef(env, thread);
    }
    return carrier;
}

// Applies a changed filter to the current platform thread. If the thread becomes unwanted, a gap
// ends its history.
static void filter_self(JNIEnv *env) {
    unsigned generation = atomic_load_explicit(&weft_filter.generation, memory_order_relaxed);
    if (self.filtered == generation || self.carrier || (*env)->ExceptionCheck(env)) {
        return;
    }
    self.filtered = generation;
    if (self.buffer == NULL && find_carrier(env)) {
        self.carrier = true;
        return;
    }
    bool was = self.unwanted;
    self.unwanted = !weft_thread_info_wanted(env, NULL);
    if (self.unwanted && !was && self.buffer != NULL) {
        struct weft_record gap = {.kind = WEFT_EV_GAP};
        weft_min_duration_put_now(self.buffer, &gap, 0);
    }
}

bool weft_self_enter(JNIEnv *env, jthread thread, struct weft_scope *scope) {
    if (!atomic_load_explicit(&weft_tracing, memory_order_acquire) || self.inside ||
        (self.ended && !is_another(env))) {
        return false;
    }
    self.inside = true;
    *scope = (struct weft_scope){.self = &self, .aggregated = weft_settings_aggregated()};
    if (atomic_load_explicit(&weft_filter.threads, memory_order_relaxed) || self.unwanted) {
        filter_self(env);
        if (self.unwanted) {
            self.inside = false;
            return false;
        }
    }
    if (self.buffer == NULL && !open_late(env, thread)) {
        self.inside = false;
        return false;
    }
    find_subject(env, thread, scope);
    return true;
}

void weft_self_leave(const struct weft_scope *scope) {
    scope->self->inside = false;
}

uint64_t weft_self_platform_id(JNIEnv *env) {
    if (self.thread != 0) {
        return self.thread;
    }
    jthread thread = weft_jvm_platform_thread(env);
    uint64_t id = thread == NULL ? 0 : weft_jvm_thread_id(env, thread);
    (*env)->DeleteLocalRef(env, thread);
    return id;
}

struct weft_record *weft_self_waiting(void) {
    return &self.waiting;
}

bool weft_self_start(JNIEnv *env, jthread thread, struct weft_scope *scope) {
    if (self.ended) {
        // A native thread that is attached again.
        self = (struct weft_self){0};
    }
    if (self.started || !weft_self_enter(env, thread, scope)) {
        return false;
    }
    self.started = true;
    return true;
}

static void leave_place(void) {
    if (self.place != NULL) {
        weft_mounts_leave(self.place);
        self.place = NULL;
    }
}

void weft_self_end(const struct weft_scope *scope) {
    struct weft_buffer *buffer = scope->self->buffer;
    weft_addresses_remove();
    weft_mounted_end(scope->self->thread);
    scope->self->buffer = NULL;
    scope->self->object = NULL;
    scope->self->ended = true;
    leave_place();
    weft_tids_leave(scope->self->thread);
    weft_buffer_close(buffer);
}

void weft_self_vanish(JNIEnv *env, uint64_t id) {
    leave_place();
    weft_tids_leave(id);
    weft_addresses_gone(env); // another thread may get this address and own locks
    weft_mounted_end(id);
    if (self.buffer == NULL && !self.inside && atomic_load(&weft_tracing)) {
        weft_roster_withdraw(id); // its creator announced it
    }
    if (self.buffer != NULL && !self.inside) {
        struct weft_buffer *buffer = self.buffer;
        self.buffer = NULL;
        self.object = NULL;
        self.ended = true;
        buffer->vanished = true;
        weft_buffer_close(buffer);
    }
}

// Determines the current platform thread without recording it.
static bool know_self(JNIEnv *env) {
    jthread thread = weft_jvm_platform_thread(env);
    if (thread != NULL) {
        self.thread = weft_jvm_thread_id(env, thread);
        self.carrier = weft_jvm_is_carrier(env, thread);
        (*env)->DeleteLocalRef(env, thread);
    }
    return self.thread != 0;
}

struct weft_context *weft_self_context(JNIEnv *env, bool take) {
    if ((self.ended && !is_another(env)) || (self.thread == 0 && !know_self(env))) {
        return NULL;
    }
    uint64_t id = self.thread;
    if (self.carrier) {
        jthread current = weft_jvm_current_thread();
        if (current == NULL) {
            return NULL;
        }
        id = weft_jvm_thread_id(env, current);
        (*env)->DeleteLocalRef(env, current);
    }
    if (id != self.thread) {
        struct weft_context *c = weft_contexts_find(id);
        return c == NULL && take ? weft_contexts_take(id) : c;
    }
    if (self.context == NULL && take) {
        self.context = weft_contexts_take(id);
    }
    return self.context;
}

bool weft_self_is_virtual(const struct weft_context *c) {
    return c != self.context;
}

void weft_self_context_unused(struct weft_context *c) {
    if (c != self.context) {
        weft_contexts_give(c);
    }
}

void weft_self_context_end(uint64_t id) {
    struct weft_context *c = self.context;
    if (id == self.thread) {
        self.context = NULL;
    } else {
        c = atomic_load_explicit(&weft_contexts_used, memory_order_relaxed) ? weft_contexts_find(id)
                                                                            : NULL;
    }
    if (c != NULL) {
        weft_contexts_give(c);
    }
}

bool weft_self_hide(bool hide) {
    bool was = self.inside;
    self.inside = hide;
    return was;
}

void weft_self_mounted(const struct weft_scope *scope, int64_t time) {
    if (self.place == NULL && !self.placeless) {
        self.place = weft_mounts_enter(self.thread);
        self.placeless = self.place == NULL;
    }
    if (self.place != NULL) {
        weft_mounts_put(self.place, scope->subject, time);
    }
}

void weft_self_unmounted(void) {
    self.waited_for = self.waiting.kind;
    self.waiting.kind = 0; // Object.wait gives up the carrier
    self.unmounted = 0;
    self.unmounts++;
    if (self.place != NULL) {
        weft_mounts_clear(self.place);
    }
}
