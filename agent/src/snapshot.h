// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What are the threads doing right now? Who is blocked on what, who owns it, who waits, who sleeps:
// as events with the flag snapshot, for what began when nobody looked.

#ifndef WEFT_SNAPSHOT_H
#define WEFT_SNAPSHOT_H

#include <jvmti.h>
#include <stdint.h>

// Looks at all threads. Calls Java, and stops the JVM for as long as a thread dump without stacks
// takes. The current thread is not recorded while it lasts.
void weft_snapshot_take(JNIEnv *env);

// Asks for a snapshot, from any thread; it is taken soon, on a thread of its own. That thread also
// notices when states end that no hook sees end, since they began before there was one.
void weft_snapshot_request(void);

// A session begins: that thread may be started. If the one of the session before is there yet, it
// goes on.
void weft_snapshot_start(void);

// Stops that thread, and waits until it is gone, for a while.
void weft_snapshot_stop(void);

// What a thread in a state of JVMTI does, as the kind of event that begins it; 0: it runs.
uint16_t weft_kind_of_state(jint state);

#endif
