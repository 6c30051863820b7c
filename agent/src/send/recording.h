// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How does a session become a file? In place of a connection: the same bytes, up to a size.

#ifndef WEFT_RECORDING_H
#define WEFT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "send/retain.h"
#include "wire/wire.h"

struct weft_recording {
    int fd; // -1: there is none
    size_t limit;
    size_t size; // of the whole frames that are written
    uint64_t definitions;
    uint64_t sequence; // the next batch's
    bool full;         // nothing more is written but the end
    uint64_t before;   // events in all batches that were written, once it is full
    uint64_t lost;     // events, those that gaps tell, and waits in sums, that were not
    int64_t since;     // when the first of those began
    struct weft_bytes out;
};

// Creates the file and writes the beginning. A file that is there is replaced only if it is empty
// or a recording that nobody else is writing. False, with errno, if that cannot be.
bool weft_recording_open(struct weft_recording *r, const char *path, size_t limit,
                         const struct weft_hello *hello);

// Writes all retained batches, and drops them. Each is written as a whole, with the definitions
// that it needs before it: a JVM that is killed leaves whole frames. What has no room any more is
// counted.
void weft_recording_step(struct weft_recording *r, struct weft_retain *retain);

// Writes what was lost and the end, and closes the file.
void weft_recording_close(struct weft_recording *r, int64_t time, uint16_t reason);

// Closes the file as it is.
void weft_recording_drop(struct weft_recording *r);

#endif
