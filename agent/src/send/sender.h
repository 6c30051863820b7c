// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The thread that moves events out of the process. The JVM does not know it: it makes no JVM calls,
// and the JVM cannot stop it.

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "send/credentials.h"
#include "wire/wire.h"

struct weft_sender_config {
    const char *endpoint; // these strings, and the attributes in hello, must remain valid
    const struct weft_credentials *credentials; // must too; NULL: none
    const char *file;                           // not NULL: record to a file instead
    size_t file_size;
    size_t retain;
    int finish_ms;    // time limit of weft_sender_finish; a fifth of it without a connection
    int64_t give_up;  // nanoseconds without a receiver until expired is called; 0: never
    int64_t duration; // nanoseconds until expired is called; 0: never
    uint64_t session; // for expired
    struct weft_hello hello;

    // Called on the sender's thread when the session continues under another identity; may change
    // the values of the hello's attributes. Returns whether it has. May be NULL.
    bool (*renewed)(const uint8_t before[16], const uint8_t session[16]);

    // Called on the sender's thread each time it has drained the threads. May be NULL.
    void (*look)(void);

    // Called on the sender's thread, which goes on, until it returns true. May be NULL if give_up
    // and duration are 0.
    bool (*expired)(uint64_t session);
};

// Starts the thread for a new session. On failure, also if the previous thread is still running,
// returns false and describes the problem and the remedy in one line.
bool weft_sender_start(const struct weft_sender_config *config, char problem[WEFT_PROBLEM_MAX]);

// Sends the rest and an end frame with the reason, and waits for the acknowledgement within the
// configured time.
void weft_sender_finish(uint16_t reason);

// Whether the thread of the last session is still running: it may outlast weft_sender_finish, for
// instance in a host name lookup. Until it ends, the configuration must remain valid.
bool weft_sender_runs(void);

// Describes in one line where events go, or what prevents it. Waits briefly for a connection being
// made.
enum { WEFT_WHEREABOUTS_MAX = 896 };
void weft_sender_whereabouts(char line[WEFT_WHEREABOUTS_MAX]);

// Makes the sender look at the threads immediately.
void weft_sender_wake(void);
