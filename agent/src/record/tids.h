// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The platform threads by their ids in the operating system, for looks at them from outside
// (jvmti/calls.h).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/buffer.h"

// Further threads are not listed.
enum { WEFT_TIDS_MAX = 4096 };

struct weft_tid {
    uint64_t thread;
    pid_t tid;
    uint64_t written; // records that the thread has written so far
    bool idle;        // it is not writing
};

// Lists the current thread with its buffer, once it is open, until leave. Leave comes before the
// buffer is closed.
void weft_tids_enter(uint64_t thread, struct weft_buffer *buffer);
void weft_tids_leave(uint64_t thread);

// Lists another thread, which has no buffer, unless a thread has left since ends was read: it may
// be that one.
uint64_t weft_tids_ends(void);
bool weft_tids_add_other(uint64_t thread, pid_t tid, uint64_t ends);

bool weft_tids_has(uint64_t thread);

// The places ever used, and the thread at one; false if there is none.
size_t weft_tids_size(void);
bool weft_tids_look(size_t place, struct weft_tid *to);
