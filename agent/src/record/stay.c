// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/stay.h"

#include <stdatomic.h>

#include "hotspot/at_monitor.h"
#include "hotspot/jvm.h"
#include "options/settings.h"

enum { FIRST_TRIES = 24 }; // the first version whose monitors try to unmount

static atomic_bool followed;

void weft_stay_follow(bool follow) {
    atomic_store(&followed, follow);
}

static unsigned blackouts(void) {
    return atomic_load_explicit(&weft_blackouts, memory_order_relaxed);
}

void weft_stay_begin(struct weft_stay *stay, uint64_t thread, unsigned unmounts) {
    *stay = (struct weft_stay){.thread = thread, .unmounts = unmounts, .blackouts = blackouts()};
}

bool weft_stay_end(struct weft_stay *stay, uint64_t thread, unsigned unmounts) {
    bool kept = thread != 0 && stay->thread == thread && stay->unmounts == unmounts &&
                stay->blackouts == blackouts() &&
                (stay->failed || weft_jvm.version < FIRST_TRIES) &&
                atomic_load_explicit(&followed, memory_order_relaxed);
    stay->thread = 0;
    return kept;
}

void weft_stay_mounted(JNIEnv *env, struct weft_stay *stay, uint64_t thread, unsigned unmounts) {
    // The newest unmount was that of this thread in this wait. If it succeeded, and the thread
    // returned first of all to the carrier that it left, it is not in the JVM's call any more.
    if (stay->thread == thread && stay->unmounts + 1 == unmounts && weft_at_monitor(env)) {
        stay->unmounts = unmounts;
        stay->failed = true;
    }
}
