// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which threads and which classes of locks are of interest? By their names, with patterns in which
// * stands for any characters and ? for one; several are separated by |.

#ifndef WEFT_FILTER_H
#define WEFT_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "options/options.h"

struct weft_filter {
    atomic_uint generation; // goes up when patterns change; never 0
    atomic_bool threads;    // there are patterns for threads
    atomic_bool locks;      // there are patterns for locks
};

extern struct weft_filter weft_filter;

// Takes the patterns of options.
void weft_filter_apply(const struct weft_options *options);

// Whether a name is wanted: it matches an include pattern, if there are any, and no exclude
// pattern. They take a lock for a moment, so what they say is to be kept until the generation
// changes.
bool weft_filter_thread(const char *name);
bool weft_filter_lock(const char *class_name);

// Whether a name matches one of the patterns.
bool weft_filter_match(const char *patterns, const char *name);

#endif
