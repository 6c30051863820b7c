// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes a snapshot of what all threads are doing: blocked on what and by whom, waiting, parked,
// sleeping. It consists of events with the flag snapshot, for waits that began unobserved.

#pragma once

#include <jvmti.h>
#include <stdbool.h>

// Looks at all threads. Calls Java, and stops the JVM for as long as a thread dump without stacks
// takes. The current thread is not recorded meanwhile. Returns whether any threads must be watched.
bool weft_snapshot_take(JNIEnv *env);
