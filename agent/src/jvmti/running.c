// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "jvmti/running.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hotspot/jvm.h"
#include "jvmti/carried.h"
#include "jvmti/looker.h"
#include "options/settings.h"
#include "record/buffer.h"
#include "record/mounts.h"
#include "record/record.h"
#include "record/stacks.h"
#include "record/thread_refs.h"
#include "wire/clock.h"

#define MILLISECOND ((int64_t)1000000)

// The age of a mount at its first event; further ones follow when the age has doubled.
enum { FIRST_AGE_MS = 20 };

// As for the stacks of owners (owner_stack.h): each stops its thread for a moment.
enum { STACKS_PER_SECOND = 50 };

// What the thread knows of a place.
struct watched {
    int64_t since; // of the mount
    int64_t due;   // age at its next event
};

struct state {
    size_t next; // the place to begin with, so that the limit affects all alike
    struct weft_buffer *buffer;
    struct watched watched[WEFT_CARRIERS];
};

static struct weft_looker *current;

static _Atomic int64_t next_stack;

// The stack of the thread that a carrier carries, if it is the expected one; 0 otherwise.
static uint32_t stack_of(JNIEnv *env, const struct weft_mount *mount) {
    uint32_t stack = 0;
    jthread carrier = weft_thread_refs_find(env, mount->carrier);
    jthread thread = carrier == NULL ? NULL : weft_carried_on(env, carrier);
    if (thread != NULL && weft_jvm_thread_id(env, thread) == mount->thread) {
        int depth = weft_settings_depth(WEFT_PLACE_BLOCK);
        stack = weft_stacks_of(env, thread, weft_record_virtual_depth(depth));
    }
    (*env)->DeleteLocalRef(env, thread);
    (*env)->DeleteLocalRef(env, carrier);
    return stack;
}

// The mount is verified after the stack was taken and the clock was read: so the stack is that of
// this mount, and the event comes before the unmount.
static void record(struct state *l, size_t place, const struct weft_mount *mount, uint32_t stack) {
    struct weft_record r = {.kind = WEFT_EV_RUNNING,
                            .peer = mount->carrier,
                            .stack = stack,
                            .flags = WEFT_FLAG_VIRTUAL};
    weft_buffer_begin(l->buffer);
    r.time = weft_clock();
    r.arg = r.time - mount->since;
    if (weft_mounts_still(place, mount)) {
        weft_buffer_write(l->buffer, &r, mount->thread);
    }
    weft_buffer_end(l->buffer);
}

// False if no more stacks may be taken now.
static bool look_at(JNIEnv *env, struct state *l, size_t place, int64_t now, int64_t began) {
    struct weft_mount mount;
    struct watched *w = &l->watched[place];
    if (!weft_mounts_look(place, &mount) || mount.since < began) {
        return true;
    }
    if (w->since != mount.since) {
        *w = (struct watched){mount.since, FIRST_AGE_MS * MILLISECOND};
    }
    if (now - mount.since < w->due) {
        return true;
    }
    if (!weft_clock_allow(&next_stack, STACKS_PER_SECOND)) {
        return false;
    }
    uint32_t stack = stack_of(env, &mount);
    if (stack != 0 && atomic_load(&weft_tracing) && weft_settings_wanted(WEFT_EV_RUNNING)) {
        record(l, place, &mount, stack);
    }
    int64_t age = weft_clock() - mount.since;
    while (w->due <= age) {
        w->due *= 2;
    }
    return true;
}

static void look(JNIEnv *env, void *state, const struct weft_look_in *in) {
    struct state *l = state;
    size_t size = weft_mounts_size();
    int64_t now = weft_clock();
    for (size_t i = 0; i < size && !atomic_load(&in->stop); i++) {
        size_t place = (l->next + i) % size;
        if (!look_at(env, l, place, now, in->began)) {
            l->next = place;
            return;
        }
    }
}

static void await(const struct weft_look_in *in) {
    weft_mounts_await(in->began, &in->stop);
}

static void *begin(JNIEnv *env) {
    struct state *l = weft_carried_init(env) ? calloc(1, sizeof *l) : NULL;
    if (l == NULL || (l->buffer = weft_buffer_open(0)) == NULL) {
        free(l);
        return NULL;
    }
    return l;
}

static void end(void *state) {
    struct state *l = state;
    weft_buffer_close(l->buffer);
    free(l);
}

static const struct weft_looks looks = {"weft-carriers", await, weft_mounts_wake, begin, look, end};

void weft_running_start(void) {
    current = weft_looker_start(&looks);
}

void weft_running_stop(void) {
    weft_looker_stop(current);
    current = NULL;
}
