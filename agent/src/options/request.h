// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of an attach. HotSpot keeps the string that an agent is given, and shows it in flight
// recordings and crash reports, where credentials must not be: weft passes the name of a file that
// has the options, and that takes the answer.

#pragma once

#include <stdbool.h>

#include "options/values.h"

enum { WEFT_REQUEST_MAX = 16384 }; // with the final zero

struct weft_request {
    const char *options; // NULL: none
    int answer;          // descriptor of an empty file; -1: none is wanted
    char text[WEFT_REQUEST_MAX];
};

// Takes what the JVM was given: request=path, or the options themselves. The file must be one that
// only this user can reach; its name is removed. On an error, returns false and describes it in one
// line.
bool weft_request_take(struct weft_request *r, const char *given, char problem[WEFT_PROBLEM_MAX]);
