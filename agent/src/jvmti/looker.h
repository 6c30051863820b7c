// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of the agent that look at something every 10 ms, for at most a hundredth of the time of a
// processor.

#pragma once

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// A session's look; begun is when it began.
struct weft_look_in {
    atomic_bool stop;
    int64_t began;
};

// What a thread looks at. The functions are called on that thread; await may be NULL.
struct weft_looks {
    const char *name;                             // of the thread
    void (*await)(const struct weft_look_in *in); // returns when there may be something to see
    void (*wake)(void);                           // ends an await; NULL if there is none
    void *(*begin)(JNIEnv *env);                  // returns the state; NULL: there is no use
    void (*look)(JNIEnv *env, void *state, const struct weft_look_in *in);
    void (*end)(void *state);
};

struct weft_looker; // of a session

// Starts a thread, which attaches to the JVM after the first await. NULL without memory.
struct weft_looker *weft_looker_start(const struct weft_looks *looks);

// Stops it, and waits until it is gone, for a while: one that hangs does not delay the next
// session. NULL is allowed.
void weft_looker_stop(struct weft_looker *looker);
