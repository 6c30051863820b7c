// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is not as known in this JVM, and what the agent therefore does without. Any thread notices;
// the sender's thread prints, because an application thread must not wait for standard error.

#pragma once

#include <stdbool.h>

enum weft_notice {
    WEFT_NOTICE_NO_OWNERS,    // the JVM does not export what is read
    WEFT_NOTICE_WRONG_OWNERS, // or what is read is wrong
    WEFT_NOTICE_NO_LOCK_STACKS,
    WEFT_NOTICE_WRONG_LOCK_STACKS,
    WEFT_NOTICE_NO_STACKS,
    WEFT_NOTICE_WRONG_STACKS,
    WEFT_NOTICE_NO_BLOCKERS,
    WEFT_NOTICE_NO_PARK_OWNERS,
    WEFT_NOTICE_NO_CARRIERS,
    WEFT_NOTICE_NO_MOUNTS,
    WEFT_NOTICE_NO_STATES,
    WEFT_NOTICE_NO_PINNED,
    WEFT_NOTICE_NO_CLASS_WAITS,
    WEFT_NOTICE_CALLS_REMOVED,
    WEFT_NOTICE_NO_CONTAINERS,
    WEFT_NOTICE_SNAPSHOT_CUT,
    WEFT_NOTICE_NO_CALLS,
    WEFT_NOTICE_NO_OLDER_THREADS,
    WEFT_NOTICES,
};

// Takes no lock and makes no call.
void weft_notices_raise(enum weft_notice notice);

// Forgets a notice about something that begins anew.
void weft_notices_withdraw(enum weft_notice notice);

// The next text that was not taken yet; NULL: none.
const char *weft_notices_take(void);

// Calls for each that was raised.
void weft_notices_show(void (*write)(void *to, const char *text), void *to);
