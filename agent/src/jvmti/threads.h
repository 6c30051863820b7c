// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What happens to threads: they are started, begin, sleep, yield, are suspended and
// stopped, get another name, end.

#ifndef WEFT_THREADS_H
#define WEFT_THREADS_H

#include <jvmti.h>

#include "jvmti/hook.h"

extern const struct weft_hook weft_thread_hooks[]; // ends with an empty one
extern const struct weft_hook weft_yield_hooks[];

void JNICALL weft_threads_on_start(jvmtiEnv *ti, JNIEnv *env, jthread thread);
void JNICALL weft_threads_on_end(jvmtiEnv *ti, JNIEnv *env, jthread thread);

#endif
