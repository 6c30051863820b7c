// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The current thread: entry and exit of every callback and hook.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/aggregate.h"
#include "record/buffer.h"
#include "record/contexts.h"
#include "record/mounts.h"
#include "record/stay.h"
#include "record/usage.h"
#include "wire/wire.h"

enum { WEFT_VIRTUAL_SEEN = 64 };

// Replaces the kind of a beginning that was not recorded, so its end is not recorded either.
enum { WEFT_NOT_RECORDED = 0xFFFE };

// The thread-local state of a platform thread.
struct weft_self {
    struct weft_buffer *buffer;
    uint64_t thread;
    jweak object;  // the platform thread
    bool started;  // threadStart was written
    bool inside;   // in a callback or hook: events it causes itself are not recorded
    bool ended;    // threadEnd was written: nothing may follow
    bool carrier;  // may carry virtual threads
    bool unwanted; // excluded by the filter as of generation filtered
    unsigned filtered;
    int64_t named; // when its name was last checked; 0: it has changed since
    // The monitor being entered: kind is contendedEnter, or 0 if there is none or its beginning was
    // not seen.
    struct weft_record entering;
    unsigned entering_since;    // blackouts at that time
    uintptr_t entering_monitor; // see weft_owner
    // The current Object.wait, also of a virtual thread that keeps its carrier: kind is wait or
    // joinStart, 0 if there is none.
    struct weft_record waiting;
    uint16_t waited_for; // that kind at the newest unmount, which may fail
    uint64_t unmounted;  // the virtual thread of that unmount; 0: none, or not recorded
    uint64_t own_wait;   // the mounted virtual thread, if a wait with no beginning is the JVM's
    unsigned own_since;  // blackouts at its mount
    uint64_t returned;   // the virtual thread that owns the monitor again for which it waited
    // The same of the virtual thread that it carries.
    struct weft_stay entering_stay;
    struct weft_stay waiting_stay;
    struct weft_carrier *place;   // of its mounts; NULL: it had none yet, or no place is free
    bool placeless;               // none was free
    unsigned unmounts;            // of virtual threads, with or without a recording
    struct weft_run run;          // of the platform thread
    struct weft_open_waits open;  // open waits with a known destination of their ends
    struct weft_context *context; // of the platform thread; NULL: it had none yet
    unsigned context_gaps;        // the buffer's gaps when it was reported
    bool context_held;            // that event is held back with its wait (min_duration.h)
    void *const *published;       // this thread's variable (published.h)
    // Virtual threads announced from here, by the lower bits of their ids.
    uint64_t virtual_seen[WEFT_VIRTUAL_SEEN];
};

// The acting thread: the platform thread itself (0), or the virtual thread it carries.
struct weft_scope {
    struct weft_self *self;
    uint64_t subject;
    bool aggregated;        // the mode, fixed for what is being recorded
    struct weft_span owner; // of the lock's owner, to be reported with the wait
};

// Starts recording. Thread is the callback's argument, or NULL in a hook. If it returns true, call
// weft_self_leave afterwards; otherwise record nothing.
bool weft_self_enter(JNIEnv *env, jthread thread, struct weft_scope *scope);
void weft_self_leave(const struct weft_scope *scope);

// The id of the current platform thread, recorded or not.
uint64_t weft_self_platform_id(JNIEnv *env);

// The current thread's Object.wait.
struct weft_record *weft_self_waiting(void);

// Start is for a new thread itself; it returns false if the thread must not be recorded or is
// recorded already. End writes no event.
bool weft_self_start(JNIEnv *env, jthread thread, struct weft_scope *scope);
void weft_self_end(const struct weft_scope *scope);

// Whether a context of weft_self_context is that of a virtual thread.
bool weft_self_is_virtual(const struct weft_context *c);

// The context of the acting thread, whether or not it is recorded; NULL if it has none. With take,
// it gets one. Unused is for one without a span: a virtual thread does not keep it.
struct weft_context *weft_self_context(JNIEnv *env, bool take);
void weft_self_context_unused(struct weft_context *c);

// A thread has ended, the current platform thread or a virtual one.
void weft_self_context_end(uint64_t id);

// Announces the name of the current thread again before it waits or ends, at most once a second.
// This catches names set in invisible ways. Thread may be NULL.
void weft_self_refresh_name(JNIEnv *env, jthread thread, const struct weft_scope *scope);

// The current thread named a thread, itself or another. Of names in quick succession, only the last
// is announced.
void weft_self_renamed(JNIEnv *env, jthread thread, const struct weft_scope *scope);

// Stops or resumes recording of the current thread. Returns the previous state.
bool weft_self_hide(bool hide);

// A virtual thread is mounted on the current thread (mounts.h).
void weft_self_mounted(const struct weft_scope *scope, int64_t time);

// It is unmounted, or will be if nothing prevents it. Also while nothing is recorded.
void weft_self_unmounted(void);

// The current thread ends while it is not recorded.
void weft_self_vanish(JNIEnv *env, uint64_t id);
