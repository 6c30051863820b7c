// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a session to a file instead of a connection: the same bytes, up to a size limit.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/values.h"
#include "send/retain.h"
#include "wire/wire.h"

struct weft_recording {
    int fd; // -1: none
    size_t limit;
    size_t size; // of the whole frames written
    uint64_t definitions;
    uint64_t sequence; // of the next batch
    bool full;         // only the end is still written
    uint64_t before;   // events in all written batches, once it is full
    uint64_t lost;     // events, losses in gaps, and summed waits that were not written
    int64_t since;     // when the first of those began
    struct weft_bytes out;
};

// Creates the file and writes the beginning. Replaces an existing file only if it is empty or a
// recording that no other process is writing, and only this user can reach it. On failure, returns
// false and describes the problem and the remedy in one line.
bool weft_recording_open(struct weft_recording *r, const char *path, size_t limit,
                         const struct weft_hello *hello, char problem[WEFT_PROBLEM_MAX]);

// Writes and drops all retained batches, each as a whole after the definitions it needs: if the JVM
// is killed, the file ends with a whole frame. Counts what does not fit.
void weft_recording_step(struct weft_recording *r, struct weft_retain *retain);

// Writes the losses and the end, and closes the file.
void weft_recording_close(struct weft_recording *r, int64_t time, uint16_t reason);

// Closes the file as it is.
void weft_recording_drop(struct weft_recording *r);
