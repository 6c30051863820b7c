// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A native method of the platform that the agent replaces.

#pragma once

#include <stdbool.h>

struct weft_hook {
    const char *class_name;
    const char *method;
    const char *signature;
    bool is_static;
    const char *export_name; // the JVM's own function; NULL: not exported
    void *replacement;
    void **original; // receives the JVM's own function
    int from;        // versions of Java with this method; 0: no limit. Looking for a missing method
    int until;       // would load, initialize and throw an error.
};
