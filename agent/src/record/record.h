// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records an event of the current thread: into its buffer or into the sums.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/self.h"
#include "wire/wire.h"

// The number of frames to take of a virtual thread.
int weft_record_virtual_depth(int depth);

// The stack id of the acting thread (stacks.h).
uint32_t weft_record_stack(const struct weft_scope *scope, JNIEnv *env, int depth);

// Records an event that happens now.
void weft_record_now(const struct weft_scope *scope, struct weft_record *record);

// Enters, records an event of a kind that happens now, and leaves. Thread: see weft_self_enter.
void weft_record_event(JNIEnv *env, jthread thread, uint16_t kind);

// Records an event that happens now but is complete only later: begin takes the time, end writes
// the record if it did happen. The scope may be left in between; the thread can then record other
// events before the end.
void weft_record_begin(const struct weft_scope *scope, struct weft_record *record);
void weft_record_end(const struct weft_scope *scope, struct weft_record *record, bool happened);
