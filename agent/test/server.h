// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What does a receiver do, well or badly? A small one for tests, in front of a witness.

#ifndef WEFT_TEST_SERVER_H
#define WEFT_TEST_SERVER_H

#include <stdatomic.h>

#include "witness.h"

struct server {
    int listener;
    struct witness witness;
    // Bad manners; 0 is none.
    atomic_int
        cut; // closes the first five connections after so many batches, the last not acknowledged
    int die; // is killed after so many batches
    int garbage; // answers the first so many connections with nonsense
    int refuse;  // refuses the first so many connections
    int slow_ms; // reads only every so many milliseconds
    int forget;  // does not acknowledge more than so many batches on a connection
    int nag; // sends so many control frames after each welcome: for depth=7, or of an unknown key
    atomic_int mangle; // sends the first so many connections control frames that are broken
    int silent;        // never answers the first so many connections (no welcome)
    int turns;         // asks so often for the other mode, each time that ...
    const char *of[8]; // ... waits of all of these, as "class.kind", came in the one that there is
    uint64_t marks[8]; // so many had come when it began
    uint64_t asked;    // for another mode, so often
    atomic_bool stop;
    atomic_int cuts;       // connections that were closed because of cut
    _Atomic uint64_t seen; // events, and those that are told to be lost
    atomic_bool over;      // serves no more
};

// Listens on a path, or on a TCP port of this machine if the name is a number.
bool server_listen(struct server *s, const char *name);

// Serves one connection after another until the end frame has come and the agent has gone.
void server_run(struct server *s);

// Prints what the witness saw, one "name value" a line, and the problem if there is one.
void server_report(const struct server *s);

#endif
