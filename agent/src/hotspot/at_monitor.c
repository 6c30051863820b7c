// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/at_monitor.h"

#include <stddef.h>
#include <stdint.h>

#include "hotspot/jvm.h"
#include "hotspot/notices.h"
#include "hotspot/vmstructs.h"
#include "hotspot/words.h"

enum { FIRST_NEEDED = 24 }; // the first version whose monitors try to unmount

static struct {
    bool readable;
    ptrdiff_t pending; // from the thread's JNIEnv back to the monitor it blocks on
    ptrdiff_t waiting; // and to that it waits at
} offsets;

static bool is_set(JNIEnv *env, ptrdiff_t back) {
    return word_at((uintptr_t)env - (uintptr_t)back) != 0;
}

static void find(JNIEnv *env, jthread thread) {
    ptrdiff_t structure;
    ptrdiff_t pending;
    ptrdiff_t waiting;
    if (!weft_jvm_env_offset(env, thread, &structure) ||
        !weft_vmstructs_offset("JavaThread", "_current_pending_monitor", &pending) ||
        !weft_vmstructs_offset("JavaThread", "_current_waiting_monitor", &waiting)) {
        return;
    }
    offsets.pending = structure - pending;
    offsets.waiting = structure - waiting;
    // This thread does neither, so other values mean that the offsets are wrong.
    offsets.readable = !is_set(env, offsets.pending) && !is_set(env, offsets.waiting);
}

void weft_at_monitor_init(JNIEnv *env, jthread thread) {
    find(env, thread);
    if (!offsets.readable && weft_jvm.version >= FIRST_NEEDED) {
        weft_notices_raise(WEFT_NOTICE_NO_PINNED);
    }
}

bool weft_at_monitor(JNIEnv *env) {
    return offsets.readable && (is_set(env, offsets.pending) || is_set(env, offsets.waiting));
}
