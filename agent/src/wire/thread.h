// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The agent's own threads. Signals to the process go to other threads, since these block them; but
// not those that a fault raises in the thread itself: blocked, they end the JVM without the report
// (hs_err) that HotSpot's handler writes.

#pragma once

#include <stdbool.h>
#include <stddef.h>

// Starts a detached thread with a stack of so many bytes. False on failure, with errno.
bool weft_thread_start(void *(*run)(void *), void *argument, size_t stack);
