// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Is the current thread where it was before? A fingerprint of its topmost Java frames, made of raw
// return addresses, for a tenth of the price of a stack trace.
//
// What code lies at an address does not change as long as the same compilation is there (each has
// a number of its own), nor does the bytecode that an interpreted frame points at, as long as no
// class is unloaded. So two equal fingerprints mean equal frames, and only a new one has to be
// resolved, by JVMTI. Nothing here knows which method a frame is of.

#ifndef WEFT_WALK_H
#define WEFT_WALK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

// False if this JVM does not tell how its frames are laid out. The thread is the current one.
bool weft_walk_init(JNIEnv *env, jthread thread);

// The fingerprint of the topmost frames: of count Java frames, or of all if there are fewer. 0 if
// it cannot be told now. Call it from a callback or a native method, on a platform thread that runs
// no virtual one. It takes no lock and reads nothing but the thread's own stack and the JVM's code.
uint64_t weft_walk(JNIEnv *env, int count);

#endif
