// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/owner_stack.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "hotspot/jvm.h"
#include "options/settings.h"
#include "record/record.h"
#include "record/stacks.h"
#include "record/thread_refs.h"
#include "wire/clock.h"

static _Atomic int64_t next_time;

void weft_owner_stack(JNIEnv *env, const struct weft_scope *scope, const struct weft_record *wait) {
    if (wait->peer == 0 || !weft_settings_wanted(WEFT_EV_OWNER_STACK) ||
        !weft_clock_allow(&next_time, WEFT_OWNER_STACKS)) {
        return;
    }
    jthread thread = weft_thread_refs_find(env, wait->peer);
    if (thread == NULL) {
        return;
    }
    struct weft_record r = {.kind = WEFT_EV_OWNER_STACK,
                            .peer = wait->peer,
                            .hash = wait->hash,
                            .class_id = wait->class_id};
    r.stack = weft_stacks_of(env, thread, weft_settings_depth(WEFT_PLACE_BLOCK));
    if (r.stack != 0) {
        weft_record_now(scope, &r);
    }
    (*env)->DeleteLocalRef(env, thread);
}
