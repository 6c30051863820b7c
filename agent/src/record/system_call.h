// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a thread of this process does in the kernel, as /proc shows it.

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { WEFT_ARGUMENTS = 3 };

struct weft_system_call {
    int64_t number; // or one of these
    uint64_t arguments[WEFT_ARGUMENTS];
};

enum {
    WEFT_OUTSIDE = -1,  // it is stopped elsewhere: at a page fault, or by a debugger
    WEFT_RUNNABLE = -2, // it is on a processor, or waits for one
};

// Parses a line of /proc/PID/task/TID/syscall. False if it is none.
bool weft_system_call_parse(const char *line, struct weft_system_call *call);

enum weft_io_verb {
    WEFT_IO_NONE,
    WEFT_IO_READ,
    WEFT_IO_WRITE,
    WEFT_IO_SYNC,
    WEFT_IO_CONNECT,
    WEFT_IO_OPEN,
    WEFT_IO_LOCK,
    WEFT_IO_EXIT,    // of a process
    WEFT_IO_CLIENTS, // that connect
    WEFT_IO_EVENTS,  // of several descriptors
};

// A wait for I/O.
struct weft_io {
    enum weft_io_verb verb;
    int of; // the descriptor, or the process; -1: none
};

// The wait that a system call is if it does not return at once; verb NONE: none that is known to be
// I/O. Memory is a descriptor of this process's memory, for what a pointer refers to; -1: none.
struct weft_io weft_system_call_io(const struct weft_system_call *call, int memory);
