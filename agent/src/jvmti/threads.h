// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Events of threads: start, end, sleep, yield, suspend, resume, stop and new names.

#pragma once

#include <jvmti.h>

#include "jvmti/hook.h"

extern const struct weft_hook weft_thread_hooks[]; // terminated by an empty hook
extern const struct weft_hook weft_yield_hooks[];

void JNICALL weft_threads_on_start(jvmtiEnv *ti, JNIEnv *env, jthread thread);
void JNICALL weft_threads_on_end(jvmtiEnv *ti, JNIEnv *env, jthread thread);
