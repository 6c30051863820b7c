// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Recognizes the current thread's stack by a fingerprint of its topmost Java frames, made of raw
// return addresses, for a tenth of the cost of a stack trace.
//
// The code at an address does not change while the same compilation is there (each has its own
// number), nor does the bytecode that an interpreted frame points to, as long as no class is
// unloaded. So equal fingerprints mean equal frames, and only new ones must be resolved by JVMTI.
// The walk does not know which methods the frames belong to.

#pragma once

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// False if this JVM does not export its frame layout. The thread is the current one.
bool weft_walk_init(JNIEnv *env, jthread thread);

// Returns the fingerprint of the topmost count Java frames, or of all if there are fewer; 0 if the
// walk fails. Call it from a callback or native method, on a platform thread that carries no
// virtual one. It takes no lock and reads only the thread's stack and the JVM's code.
uint64_t weft_walk(JNIEnv *env, int count);
