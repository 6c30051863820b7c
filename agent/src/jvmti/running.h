// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Records which virtual threads keep their carriers for long, and where: a computation makes no
// event, and while it lasts others may wait for a carrier.
//
// A thread of the agent looks at all mounts (record/mounts.h) every 10 ms while there are any. It
// is apart from the snapshot thread (snapshot_thread.h), which may wait for the sender or run Java
// code meanwhile, and which slows down with the number of threads that it watches.

#pragma once

// Starts the thread; it attaches to the JVM when the first virtual thread is mounted, and ends if
// the JVM does not show what carriers carry. Without memory it does not start.
void weft_running_start(void);

// Stops the thread, and waits until it is gone, for a while.
void weft_running_stop(void);
