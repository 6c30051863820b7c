// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the virtual threads that are parked, for a snapshot. The JVM lists platform threads only;
// the JDK knows the virtual ones in its thread containers.

#pragma once

#include <jvmti.h>
#include <stddef.h>

#include "send/findings.h"

// At most so many threads and containers are looked at, and none after taking stacks took so long:
// meanwhile the JVM delays mounts and unmounts. A notice says so if there were more.
enum { WEFT_VIRTUAL_SNAPSHOT_MAX = 10000, WEFT_VIRTUAL_SNAPSHOT_MS = 300 };

// Returns how many were found; the caller frees the list. Runs Java code if there are carriers.
size_t weft_virtual_snapshot(JNIEnv *env, struct weft_finding **list);
