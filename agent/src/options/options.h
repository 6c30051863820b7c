// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of the agent as keys and values, from the command line, an attach or a control frame.
// One table states what each key accepts and when.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/values.h"

enum {
    WEFT_ENDPOINT_MAX = 256,
    WEFT_SERVICE_MAX = 256,
    WEFT_ACCOUNT_MAX = 64,
    WEFT_PATTERNS_MAX = 512,
    WEFT_PATH_MAX = 512,
    WEFT_HEADERS_MAX = 512,
    WEFT_MAX_DEPTH = 128, // frames of a stack
};

struct weft_options {
    char endpoint[WEFT_ENDPOINT_MAX];  // empty: the default sockets
    char peer_user[WEFT_ACCOUNT_MAX];  // who else may listen on a Unix socket; empty: no others
    char peer_group[WEFT_ACCOUNT_MAX]; // likewise
    char ca_file[WEFT_PATH_MAX];       // these are empty if not given
    char cert_file[WEFT_PATH_MAX];
    char key_file[WEFT_PATH_MAX];
    char server_name[WEFT_ENDPOINT_MAX];
    char token_file[WEFT_PATH_MAX];
    char headers[WEFT_HEADERS_MAX];
    char service[WEFT_SERVICE_MAX];
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
    bool io;
    bool io_names;
    enum weft_virtual virtual;
    bool pause;
    int64_t min_duration; // nanoseconds; 0: record all waits
    char include_threads[WEFT_PATTERNS_MAX];
    char exclude_threads[WEFT_PATTERNS_MAX];
    char include_locks[WEFT_PATTERNS_MAX];
    char exclude_locks[WEFT_PATTERNS_MAX];
    char file[WEFT_PATH_MAX]; // empty: a socket
    size_t file_size;
    bool control;
    bool aggregated;
    int64_t interval; // nanoseconds between aggregates
    size_t series;
    size_t pool;
    size_t retain;
    size_t definitions;
    int64_t exit_wait; // nanoseconds that JVM exit may wait to flush events
    int64_t give_up;   // nanoseconds without a receiver after which the session ends; 0: never
    int64_t duration;  // nanoseconds after which the session ends; 0: with the JVM
    // Commands rather than states; whoever executes them resets them.
    bool snapshot;
    bool report;
    bool detach;
    bool status;
};

void weft_options_default(struct weft_options *options);

// Sets one option. On an error, returns false, leaves the options unchanged and describes the key
// and the remedy in one line.
bool weft_options_set(const char *key, const char *value, enum weft_when when,
                      struct weft_options *options, char problem[WEFT_PROBLEM_MAX]);

// Sets comma-separated key=value pairs in order (NULL: none). On an error, returns false; earlier
// pairs may have been set.
bool weft_options_change(const char *text, enum weft_when when, struct weft_options *options,
                         char problem[WEFT_PROBLEM_MAX]);

// The same, starting with the defaults.
bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]);

// Whether the options go together. If not, describes the remedy in one line.
bool weft_options_check(const struct weft_options *options, char problem[WEFT_PROBLEM_MAX]);

// The key of the option with a number, counted from 0, without commands; NULL after the last one.
const char *weft_options_key(size_t number);

// Calls put for each option that can be changed at run time.
void weft_options_show(const struct weft_options *options,
                       void (*put)(void *to, const char *key, const char *value), void *to);
