// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records which platform threads wait for I/O, for what, and where: the JVM has no callback for
// that. A thread of the agent looks at all that do not wait in Java, every 10 ms, through /proc.

#pragma once

// Starts the thread. It ends if this system does not show what threads do in the kernel.
void weft_calls_start(void);

// Stops the thread, and waits until it is gone, for a while.
void weft_calls_stop(void);
