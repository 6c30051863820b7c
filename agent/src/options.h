// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What was the agent told on the command line? key=value pairs, separated by commas.

#ifndef WEFT_OPTIONS_H
#define WEFT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { WEFT_ENDPOINT_MAX = 256, WEFT_SERVICE_MAX = 256, WEFT_PROBLEM_MAX = 512 };

struct weft_options {
    char endpoint[WEFT_ENDPOINT_MAX];
    char service[WEFT_SERVICE_MAX]; // empty: not given
    int depth;
    int wait_depth;
    int notify_depth;
    int park_depth;
    int unpark_depth;
    bool park;
    bool yield;
    size_t pool;
    size_t retain;
    size_t definitions;
};

// Reads the option string (NULL is none) over the defaults. On an error it returns false and puts
// one line into problem that names the key and the remedy.
bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]);

#endif
