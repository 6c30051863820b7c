// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Notices when states end that no hook sees end: a thread that was in wait, park or sleep before
// there were hooks comes back without one. The list of these threads is polled.

#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "send/findings.h"

// The kind of event that begins a JVMTI thread state; 0 if the thread runs.
uint16_t weft_watch_kind(jint state);

// Replaces the list: begin, add each thread, end. One thread at a time. End returns whether any
// thread is watched.
void weft_watch_begin(JNIEnv *env);
void weft_watch_add(JNIEnv *env, jthread thread, const struct weft_finding *finding);
bool weft_watch_end(void);

// Empties the list.
void weft_watch_clear(JNIEnv *env);

// Polls the threads and posts the ends of their states. Returns whether any thread is still
// watched.
bool weft_watch_poll(JNIEnv *env);

#endif
