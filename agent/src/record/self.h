// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who is the current thread, and may it record something now? The entry and exit of every callback
// and every hook.

#ifndef WEFT_SELF_H
#define WEFT_SELF_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/aggregate.h"
#include "record/buffer.h"
#include "wire/wire.h"

enum { WEFT_VIRTUAL_SEEN = 64 };

// In place of the kind of a beginning that was not recorded: its end is not recorded either.
enum { WEFT_NOT_RECORDED = 0xFFFE };

// What is kept for each platform thread, in thread-local storage.
struct weft_self {
    struct weft_buffer *buffer;
    uint64_t thread;
    jweak object;  // the platform thread
    bool started;  // threadStart is written
    bool inside;   // in a callback or hook: what it causes itself is not recorded
    bool ended;    // threadEnd is written: nothing may follow
    bool carrier;  // virtual threads may run on it
    bool unwanted; // the filter says so, or said so in that generation
    unsigned filtered;
    int64_t named; // when its name was last looked at; 0: it has another since
    // The monitor that is being entered: kind is contendedEnter, 0 if there is none or if its
    // beginning was not seen.
    struct weft_record entering;
    unsigned entering_since; // so many blackouts had been then
    // The Object.wait that is going on: kind is wait or joinStart, 0 if there is none.
    struct weft_record waiting;
    struct weft_open_waits open; // of which it is known where their ends go
    // Virtual threads that were announced from here, by the lower bits of their ids.
    uint64_t virtual_seen[WEFT_VIRTUAL_SEEN];
};

// Says who acts: the platform thread itself (0), or the virtual thread that it carries.
struct weft_scope {
    struct weft_self *self;
    uint64_t subject;
    bool aggregated; // the mode; it may change meanwhile, but not for what is being recorded
};

// Begins to record. Thread is the callback's argument, or NULL in a hook (then it is found out). If
// it returns true, weft_self_leave must follow; otherwise nothing may be recorded.
bool weft_self_enter(JNIEnv *env, jthread thread, struct weft_scope *scope);
void weft_self_leave(const struct weft_scope *scope);

// The current thread's Object.wait that is going on.
struct weft_record *weft_self_waiting(void);

// Threads come and go. Start is for the new thread itself and returns false if it must not be
// recorded, or is already; end writes no event.
bool weft_self_start(JNIEnv *env, jthread thread, struct weft_scope *scope);
void weft_self_end(const struct weft_scope *scope);

// The current thread is about to wait or to end: tells its name anew if that was not done for a
// second. So names are found out that were given in ways that are not seen. Thread may be NULL.
void weft_self_refresh_name(JNIEnv *env, jthread thread, const struct weft_scope *scope);

// The current thread gave a thread, itself or another, a name. Names that follow each other fast
// are told when they last.
void weft_self_renamed(JNIEnv *env, jthread thread, const struct weft_scope *scope);

// From now on the current thread is not recorded (or is again). Returns what was before.
bool weft_self_hide(bool hide);

// The current thread, of that id, ends while nothing of it is recorded.
void weft_self_vanish(JNIEnv *env, uint64_t id);

#endif
