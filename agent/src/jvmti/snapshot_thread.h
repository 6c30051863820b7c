// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The thread that takes snapshots on request and polls the watched threads. It runs only as long as
// there is something to do.

#pragma once

#include <jvmti.h>

// Once, before all others.
void weft_snapshot_thread_init(void);

// Takes a snapshot on the current thread, and starts the thread if there are threads to watch.
void weft_snapshot_thread_take(JNIEnv *env);

// Requests a snapshot, from any thread; it is taken soon.
void weft_snapshot_thread_request(void);

// Looks for waits for classes (class_waits.h), and has the thread record them. The sender calls it.
void weft_snapshot_thread_look(void);

// A session begins: the thread may start. If the previous session's thread is still there, it
// continues.
void weft_snapshot_thread_start(void);

// Stops the thread, and waits until it is gone, for a while.
void weft_snapshot_thread_stop(void);
