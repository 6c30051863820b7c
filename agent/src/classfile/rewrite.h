// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a class file so that some of its methods begin with a call.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

// A call to put before a method: callee is a static method of the callees' class and gets the
// object of the method, as its only argument.
struct weft_call {
    const char *method;
    const char *descriptor;
    const char *callee;
};

struct weft_calls {
    const char *class_name; // of the callees, with slashes
    const char *descriptor; // of the callees
    const struct weft_call *list;
    size_t count; // at most WEFT_MAX_CALLS
};

enum { WEFT_MAX_CALLS = 8 };

// Rewrites the class file and returns a bit for each call that was added, in the order of the list;
// methods that the class lacks are skipped. Returns 0 if there is none, or if the file or one of
// these methods is not as the class file format (JVMS 4) describes it, is native, abstract or
// static, or there is no memory; out is then incomplete. The caller frees out.
uint32_t weft_rewrite(const uint8_t *file, size_t len, const struct weft_calls *calls,
                      struct weft_bytes *out);
