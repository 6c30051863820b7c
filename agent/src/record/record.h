// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the current thread records an event: into its buffer or into the sums.

#ifndef WEFT_RECORD_H
#define WEFT_RECORD_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/self.h"
#include "wire/wire.h"

// The id of the stack of whoever acts (stacks.h).
uint32_t weft_record_stack(const struct weft_scope *scope, JNIEnv *env, int depth);

// Records that something happens now.
void weft_record_now(const struct weft_scope *scope, struct weft_record *record);

// Enters, records an event of a kind that happens now, and leaves. Thread is that of
// weft_self_enter.
void weft_record_event(JNIEnv *env, jthread thread, uint16_t kind);

// Records something whose time is now, but that is known only later: begin takes the time, end
// writes the record or, if it did not happen, does not. The scope may be left in between; then the
// thread can record other things before the end.
void weft_record_begin(const struct weft_scope *scope, struct weft_record *record);
void weft_record_end(const struct weft_scope *scope, struct weft_record *record, bool happened);

#endif
