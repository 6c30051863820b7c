// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A native method of the platform that the agent replaces.

#ifndef WEFT_HOOK_H
#define WEFT_HOOK_H

#include <stdbool.h>

struct weft_hook {
    const char *class_name;
    const char *method;
    const char *signature;
    bool is_static;
    const char *export_name; // the JVM's own function; NULL: it has no export
    void *replacement;
    void **original; // where to keep the JVM's own function
};

#endif
