// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which virtual thread is mounted on which carrier, and since when, for a thread that looks for
// those that stay long (jvmti/running.h).
//
// Each carrier has a place in a table of fixed size, where it writes its mounts without a lock. The
// thread that looks sleeps while no carrier has a mount; the next mount wakes it.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_CARRIERS = 1024 };

struct weft_mount {
    uint64_t carrier;
    uint64_t thread;
    int64_t since; // time of the mount, which identifies it
};

struct weft_carrier; // a place

// Carrier side. NULL if the table is full: the carrier's mounts remain unknown.
struct weft_carrier *weft_mounts_enter(uint64_t carrier);
void weft_mounts_leave(struct weft_carrier *place);
void weft_mounts_put(struct weft_carrier *place, uint64_t thread, int64_t since);
void weft_mounts_clear(struct weft_carrier *place);

// The side of the thread that looks. Places are numbered up to the size.
size_t weft_mounts_size(void);

// The mount at a place. False if there is none.
bool weft_mounts_look(size_t place, struct weft_mount *mount);

// Whether a mount has lasted until now.
bool weft_mounts_still(size_t place, const struct weft_mount *mount);

// Sleeps until a carrier gets a mount, if none has one since a given time or later; or until a
// stop. It may return early, and the mount may be over.
void weft_mounts_await(int64_t from, const atomic_bool *stop);

// Wakes the sleeper after a stop.
void weft_mounts_wake(void);
