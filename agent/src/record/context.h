// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports the current span of a thread, but only of a thread that waits, or lets another one go:
// just before that. If it owns a lock, the thread that waits for it reports its span.
// From then on the thread reports each change at once, so that the receiver knows when that span
// was no longer current. A request that does not wait makes no event.

#pragma once

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/contexts.h"
#include "record/self.h"
#include "wire/wire.h"

// Another span is current on the acting thread. True if a request ends that the receiver knows:
// then nothing has changed, and weft_context_end has to follow.
bool weft_context_change(JNIEnv *env, const struct weft_span *span);

// No span is current from here on. The request that ends, if one does, has a name, defined as a
// class; 0: unknown.
void weft_context_end(JNIEnv *env, uint32_t name);

// A context that has to be reported.
struct weft_context_due {
    struct weft_context *context; // NULL: none
    uint32_t epoch;
    unsigned gaps; // of the thread's buffer before
    bool at_once;  // even if the wait is not sent: the receiver knows another span
    struct weft_record event;
};

// Whether the application reports its spans with the functions below. Until it does, each wait
// reads what another library publishes (published.h).
extern atomic_bool weft_context_reported;

// Before a wait or the release of another thread is written: what has to be written before it,
// unless the receiver knows the span or there is none. Call weft_context_sent afterwards.
void weft_context_look(const struct weft_scope *scope, const struct weft_record *next,
                       struct weft_context_due *due);
void weft_context_sent(const struct weft_scope *scope, const struct weft_context_due *due,
                       bool waits);

// A thread waits whose span the receiver knows already.
void weft_context_waits(const struct weft_scope *scope);

// After each event while scope->self->context_held: the wait, and the context before it, may have
// been written or dropped.
void weft_context_settle(const struct weft_scope *scope, bool kept);

// The receiver has forgotten the span, because a gap was written.
void weft_context_forgotten(const struct weft_scope *scope);

// Notes the current span of the owner that a thread is about to wait for, unless the owner has
// reported it itself.
void weft_context_note_owner(struct weft_scope *scope, const struct weft_record *wait);

// Fills in the event that states it; false if there is none.
bool weft_context_of_owner(const struct weft_scope *scope, const struct weft_record *wait,
                           struct weft_record *event);

// A virtual thread runs on this platform thread from here on, or no longer does: programs outside
// the process see its span.
void weft_context_mounted(uint64_t thread);
void weft_context_unmounted(void);
