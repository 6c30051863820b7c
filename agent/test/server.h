// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A small receiver for tests, in front of a witness, that can misbehave.

#ifndef WEFT_TEST_SERVER_H
#define WEFT_TEST_SERVER_H

#include <stdatomic.h>

#include "witness.h"

struct server {
    int listener;
    struct witness witness;
    // Misbehavior; 0 is none.
    atomic_int
        cut; // closes the first five connections after this many batches, the last unacknowledged
    int die; // is killed after this many batches
    int garbage; // answers the first connections with garbage
    int refuse;  // refuses the first connections
    int slow_ms; // reads only once in this many milliseconds
    int forget;  // acknowledges at most this many batches per connection
    int nag; // sends this many control frames after each welcome: for depth=7, or with an unknown
             // key
    atomic_int mangle; // sends malformed control frames on the first connections
    int silent;        // never answers the first connections (no welcome)
    atomic_int leave;  // leaves after this many batches, all acknowledged, and then ...
    int ahead;         // ... claims on so many connections to have more batches than were sent
    int turns;         // changes the mode this many times, each time after ...
    const char
        *of[8]; // ... waits of all of these, as "class.kind", have arrived in the current mode
    uint64_t marks[8]; // waits when it began
    uint64_t turned;   // changes of the mode so far
    atomic_bool stop;
    atomic_int cuts;       // connections closed because of cut
    _Atomic uint64_t seen; // events, including those reported lost
    atomic_bool over;      // stops serving
};

// Listens on a path, or on a local TCP port if the name is a number.
bool server_listen(struct server *s, const char *name);

// Serves connections until the end frame has arrived and the agent has gone.
void server_run(struct server *s);

// Prints the witness's results as "name value" lines, and the problem if there is one.
void server_report(const struct server *s);

#endif
