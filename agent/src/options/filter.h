// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects threads and lock classes by name. In patterns * matches any characters and ? one; |
// separates patterns.

#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "options/options.h"

struct weft_filter {
    atomic_uint generation; // goes up when patterns change; never 0
    atomic_bool threads;    // patterns for threads exist
    atomic_bool locks;      // patterns for locks exist
};

extern struct weft_filter weft_filter;

// Puts the patterns of the options into effect.
void weft_filter_apply(const struct weft_options *options);

// Whether a name matches an include pattern, if there are any, and no exclude pattern. Takes a lock
// briefly, so cache the result until the generation changes.
bool weft_filter_thread(const char *name);
bool weft_filter_lock(const char *class_name);

// Whether a name matches one of the patterns.
bool weft_filter_match(const char *patterns, const char *name);
