// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/notices.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LACKING "are not recorded (up to Java 21, JVMTI gives at most 100 a second): "
#define MISSING "this JVM does not export what the agent reads"
#define WRONG   "what the agent reads in this JVM is wrong"

static const char *const texts[WEFT_NOTICES] = {
    [WEFT_NOTICE_NO_OWNERS] = "owners of monitors " LACKING MISSING,
    [WEFT_NOTICE_WRONG_OWNERS] = "owners of monitors " LACKING WRONG,
    [WEFT_NOTICE_NO_LOCK_STACKS] = "owners of newly contended monitors are not recorded: " MISSING,
    [WEFT_NOTICE_WRONG_LOCK_STACKS] = "owners of newly contended monitors are not recorded: " WRONG,
    [WEFT_NOTICE_NO_STACKS] = "stacks come from JVMTI only, which costs more: " MISSING,
    [WEFT_NOTICE_WRONG_STACKS] = "stacks come from JVMTI only, which costs more: " WRONG,
    [WEFT_NOTICE_NO_BLOCKERS] =
        "what parked threads wait for is not recorded: java.lang.Thread has no field parkBlocker",
    [WEFT_NOTICE_NO_PARK_OWNERS] =
        "owners of locks of java.util.concurrent are not recorded: AbstractOwnableSynchronizer has "
        "no field exclusiveOwnerThread",
    [WEFT_NOTICE_NO_CARRIERS] = "virtual threads are not recorded: this JVM lacks "
                                "JVM_CurrentCarrierThread or JVMTI's support for virtual threads",
    [WEFT_NOTICE_NO_MOUNTS] =
        "parks and mounts of virtual threads are not recorded: this JVM lacks "
        "the extension events VirtualThreadMount and VirtualThreadUnmount",
    [WEFT_NOTICE_NO_STATES] = "parks of virtual threads are not recorded: the fields of "
                              "java.lang.VirtualThread are not as known",
    [WEFT_NOTICE_NO_PINNED] =
        "waits of virtual threads at monitors do not show that they pin a carrier: " MISSING,
    [WEFT_NOTICE_NO_CLASS_WAITS] =
        "waits for the initialization of classes are not recorded: " MISSING,
    [WEFT_NOTICE_CALLS_REMOVED] =
        "not all that wakes virtual threads is recorded: another agent has removed the calls that "
        "virtual=exact adds to java.lang.VirtualThread",
    [WEFT_NOTICE_NO_CONTAINERS] = "virtual threads that were parked before appear when they next "
                                  "run: the JDK's thread containers are not as known",
    [WEFT_NOTICE_SNAPSHOT_CUT] = "some virtual threads that were parked before appear when they "
                                 "next run: there were too many for a snapshot",
    [WEFT_NOTICE_NO_CALLS] = "waits for I/O are not recorded: /proc/self/task does not show what "
                             "threads do in the kernel, or for how long they ran",
    [WEFT_NOTICE_NO_OLDER_THREADS] =
        "waits for I/O of threads that are older than the session are not recorded: " MISSING,
};

static _Atomic uint32_t raised; // bits
static _Atomic uint32_t taken;

void weft_notices_raise(enum weft_notice notice) {
    atomic_fetch_or(&raised, UINT32_C(1) << notice);
}

void weft_notices_withdraw(enum weft_notice notice) {
    atomic_fetch_and(&raised, ~(UINT32_C(1) << notice));
    atomic_fetch_and(&taken, ~(UINT32_C(1) << notice));
}

const char *weft_notices_take(void) {
    uint32_t left = atomic_load(&raised) & ~atomic_load(&taken);
    for (uint32_t i = 0; left != 0 && i < WEFT_NOTICES; i++) {
        uint32_t bit = UINT32_C(1) << i;
        if ((left & bit) != 0 && (atomic_fetch_or(&taken, bit) & bit) == 0) {
            return texts[i];
        }
    }
    return NULL;
}

void weft_notices_show(void (*write)(void *to, const char *text), void *to) {
    uint32_t all = atomic_load(&raised);
    for (uint32_t i = 0; i < WEFT_NOTICES; i++) {
        if ((all >> i & 1) != 0) {
            write(to, texts[i]);
        }
    }
}
