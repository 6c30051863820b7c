// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What was the agent told? Keys and values, from the command line, from an attach or from a control
// frame: one table says what each key may be and when.

#ifndef WEFT_OPTIONS_H
#define WEFT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/values.h"

enum {
    WEFT_ENDPOINT_MAX = 256,
    WEFT_SERVICE_MAX = 256,
    WEFT_PATTERNS_MAX = 512,
    WEFT_PATH_MAX = 512,
    WEFT_MAX_DEPTH = 128, // frames of a stack
};

struct weft_options {
    char endpoint[WEFT_ENDPOINT_MAX];
    char service[WEFT_SERVICE_MAX]; // empty: not given
    int depth;
    int wait_depth;
    int notify_depth;
    int park_depth;
    int unpark_depth;
    bool monitor;
    bool wait;
    bool notify;
    bool park;
    bool sleep;
    bool start;
    bool interrupt;
    bool yield;
    bool mounts;
    bool cpu;
    bool owner_stacks;
    bool virtual;
    bool pause;
    int64_t min_duration; // nanoseconds; 0: all are recorded
    char include_threads[WEFT_PATTERNS_MAX];
    char exclude_threads[WEFT_PATTERNS_MAX];
    char include_locks[WEFT_PATTERNS_MAX];
    char exclude_locks[WEFT_PATTERNS_MAX];
    char file[WEFT_PATH_MAX]; // empty: a socket
    size_t file_size;
    bool control;
    bool aggregated;
    int64_t interval; // nanoseconds from one aggregate to the next
    size_t series;
    size_t pool;
    size_t retain;
    size_t definitions;
    int64_t exit_wait; // nanoseconds that the end of the JVM may wait for what is left to be sent
    // Things to do, not states: whoever does them sets them back.
    bool snapshot;
    bool report;
    bool detach;
};

// Fills in the defaults.
void weft_options_default(struct weft_options *options);

// Takes one key and its value. On an error it returns false and puts one line into problem that
// names the key and the remedy; the options are then as they were.
bool weft_options_set(const char *key, const char *value, enum weft_when when,
                      struct weft_options *options, char problem[WEFT_PROBLEM_MAX]);

// Takes key=value pairs, separated by commas (NULL is none), one after another. On an error it
// returns false; some may have been taken.
bool weft_options_change(const char *text, enum weft_when when, struct weft_options *options,
                         char problem[WEFT_PROBLEM_MAX]);

// The same over the defaults, for the start.
bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]);

// Calls put for each option that can be changed while the agent runs, with its value as text.
void weft_options_show(const struct weft_options *options,
                       void (*put)(void *to, const char *key, const char *value), void *to);

#endif
