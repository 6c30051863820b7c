// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who takes the events out of the process? A thread of its own that the JVM does not know: it calls
// nothing of the JVM, and the JVM cannot stop it.

#ifndef WEFT_SENDER_H
#define WEFT_SENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/wire.h"

struct weft_sender_config {
    const char *endpoint; // these strings, and the attributes in hello, must stay
    const char *file;     // not NULL: a recording in place of a connection
    size_t file_size;
    size_t retain;
    int finish_ms; // how long the finish may take; a fifth of it without a connection
    struct weft_hello hello;
};

// Starts the thread, for a new session. False, with errno for a file, if that is not possible, or
// if the last one has not finished.
bool weft_sender_start(const struct weft_sender_config *config);

// Sends what is there, an end frame with the reason, and waits for the acknowledgement: at most
// as long as was given at the start.
void weft_sender_finish(uint16_t reason);

// Whether the last session's thread is still there: it may need longer than the finish waits, for
// instance while it looks a host name up. Until it is gone, what was given at the start must stay.
bool weft_sender_runs(void);

// Where the events go, and what is in the way, in one line. Waits a moment for a connection that is
// just being made.
enum { WEFT_WHEREABOUTS_MAX = 640 };
void weft_sender_whereabouts(char line[WEFT_WHEREABOUTS_MAX]);

// Makes the sender look at the threads at once.
void weft_sender_wake(void);

#endif
