// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of monitors: contention, wait, notify, and join, which is a wait on a Thread.

#pragma once

#include <jvmti.h>

#include "jvmti/hook.h"

void weft_monitors_init(JNIEnv *env);

extern const struct weft_hook weft_monitor_hooks[]; // terminated by an empty hook

void JNICALL weft_monitors_on_contended_enter(jvmtiEnv *ti, JNIEnv *env, jthread thread,
                                              jobject object);
void JNICALL weft_monitors_on_contended_entered(jvmtiEnv *ti, JNIEnv *env, jthread thread,
                                                jobject object);
void JNICALL weft_monitors_on_wait(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object,
                                   jlong millis);
void JNICALL weft_monitors_on_waited(jvmtiEnv *ti, JNIEnv *env, jthread thread, jobject object,
                                     jboolean timed_out);
