// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a virtual thread keeps its carrier during a wait: it is pinned.
//
// Up to Java 23 monitors pin, and no unmount is reported between the beginning and the end of the
// wait. Later JVMs report an unmount, try it, and report a mount if something on the stack prevents
// it: a native frame, or the initializer of a class.

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

// A wait of the virtual thread that a platform thread carries.
struct weft_stay {
    uint64_t thread;    // 0: none
    unsigned unmounts;  // of the carrier so far
    unsigned blackouts; // at the beginning
    bool failed;        // the JVM tried to unmount the thread
};

// Whether mounts and unmounts are reported. Without them nothing counts as pinned.
void weft_stay_follow(bool follow);

// A thread (0: not a virtual one) begins a wait on a carrier with that many unmounts.
void weft_stay_begin(struct weft_stay *stay, uint64_t thread, unsigned unmounts);

// The wait is over. Returns whether the thread was pinned.
bool weft_stay_end(struct weft_stay *stay, uint64_t thread, unsigned unmounts);

// A thread is mounted on the current carrier: for the first time, again, or because its unmount
// failed.
void weft_stay_mounted(JNIEnv *env, struct weft_stay *stay, uint64_t thread, unsigned unmounts);
