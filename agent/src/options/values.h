// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What may the value of an option be? A type for each sort of values.

#ifndef WEFT_VALUES_H
#define WEFT_VALUES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WEFT_VALUE_MAX = 513, // room for every value as text
    WEFT_PROBLEM_MAX = 512,
};

// When options are taken.
enum weft_when {
    WEFT_AT_START,  // of a session: all keys, over the defaults
    WEFT_AT_ATTACH, // to an agent that runs: what only a start can say must be as it is
    WEFT_BY_CONTROL,
};

struct weft_option;

// A type of values: how they are read into, and shown from, the place in struct weft_options.
struct weft_type {
    bool (*take)(const struct weft_option *option, const char *value, void *to, char *problem);
    void (*show)(const void *from, char text[WEFT_VALUE_MAX]);
};

struct weft_option {
    const char *key;
    const struct weft_type *type;
    size_t offset; // in struct weft_options
    size_t least;  // of a size: bytes; of a text: 0 if it may be empty; of a count: it
    size_t most;   // of a text: bytes with the zero at its end; of a count: it; of a duration:
                   // nanoseconds
    enum weft_when latest;
};

extern const struct weft_type WEFT_DURATION;
extern const struct weft_type WEFT_TEXT;
extern const struct weft_type WEFT_ENDPOINT;
extern const struct weft_type WEFT_DEPTH;
extern const struct weft_type WEFT_SWITCH;
extern const struct weft_type WEFT_BYTES;
extern const struct weft_type WEFT_MODE;
extern const struct weft_type WEFT_INTERVAL;
extern const struct weft_type WEFT_COUNT;
extern const struct weft_type WEFT_COMMAND;

#endif
