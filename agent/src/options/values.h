// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The types of option values.

#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    WEFT_VALUE_MAX = 513, // enough for every value as text
    WEFT_PROBLEM_MAX = 768,
};

// What is recorded of virtual threads.
enum weft_virtual {
    WEFT_VIRTUAL_OFF,
    WEFT_VIRTUAL_ON,
    WEFT_VIRTUAL_EXACT, // also who wakes them, and their carriers
};

// When options may be set.
enum weft_when {
    WEFT_AT_START,  // of a session: all keys, starting with the defaults
    WEFT_AT_ATTACH, // while the agent runs: options fixed at the start must keep their values
    WEFT_BY_CONTROL,
};

struct weft_option;

// A type of values: how to parse and print them. The pointers lead into struct weft_options.
struct weft_type {
    bool (*take)(const struct weft_option *option, const char *value, void *to, char *problem);
    void (*show)(const void *from, char text[WEFT_VALUE_MAX]);
};

struct weft_option {
    const char *key;
    const struct weft_type *type;
    size_t offset; // in struct weft_options
    size_t least;  // sizes: bytes; texts: 0 if they may be empty; counts: the minimum
    size_t most;   // texts: bytes including the final zero; counts and depths: the maximum;
                   // durations: nanoseconds
    enum weft_when latest;
};

extern const struct weft_type WEFT_DURATION;
extern const struct weft_type WEFT_TEXT;
extern const struct weft_type WEFT_FILE; // text; %p is the process ID, %% is %
extern const struct weft_type WEFT_ENDPOINT;
extern const struct weft_type WEFT_DEPTH;
extern const struct weft_type WEFT_SWITCH;
extern const struct weft_type WEFT_BYTES;
extern const struct weft_type WEFT_MODE;
extern const struct weft_type WEFT_EXTENT; // of virtual threads
extern const struct weft_type WEFT_INTERVAL;
extern const struct weft_type WEFT_COUNT;
extern const struct weft_type WEFT_COMMAND;
