// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Detects the end of states that no hook sees: a thread that was in wait, park or sleep before the
// hooks existed returns without calling one. These threads are polled.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "send/findings.h"

// The kind of event that begins a JVMTI thread state; 0 if the thread runs.
uint16_t weft_watch_kind(jint state);

// Replaces the list: begin, add each thread, end, on one thread at a time. End returns whether any
// thread is watched.
void weft_watch_begin(JNIEnv *env);
void weft_watch_add(JNIEnv *env, jthread thread, const struct weft_finding *finding);
bool weft_watch_end(void);

// Empties the list.
void weft_watch_clear(JNIEnv *env);

// Polls the threads and posts the ends of their states. Returns whether any thread is still
// watched.
bool weft_watch_poll(JNIEnv *env);
