// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The ids in the operating system of threads that are older than the agent, which cannot be asked.

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <sys/types.h>

// False if this JVM does not export where the id is.
bool weft_native_id_init(void);

// Returns the id of a platform thread, 0 if it has ended or the id is not known. Memory is a
// descriptor of this process's memory.
pid_t weft_native_id(JNIEnv *env, jobject thread, int memory);
