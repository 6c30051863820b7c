// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the agent and a receiver identify each other: files for TLS, and headers of the hello, from
// the options and, for endpoints with TLS, OpenTelemetry's environment variables. Nothing here is
// ever logged or shown.

#pragma once

#include <stdbool.h>

#include "options/options.h"
#include "send/resource.h"
#include "wire/tls.h"

struct weft_credentials {
    struct weft_tls_config tls;
    const char *token_file;       // empty: none
    struct weft_resource headers; // without the token's
};

// Takes them from the options, which must remain valid, and copies those of the environment. Frees
// the previous ones. On an error, returns false and describes it in one line.
bool weft_credentials_init(struct weft_credentials *c, const struct weft_options *options,
                           char problem[WEFT_PROBLEM_MAX]);

enum { WEFT_MAX_HEADERS = WEFT_MAX_ATTRIBUTES + 1 };

// The headers of a hello, with the present token. They are valid until the next call. Returns their
// number, or -1 and the problem if there is no usable token.
int weft_credentials_headers(const struct weft_credentials *c,
                             struct weft_attribute list[WEFT_MAX_HEADERS],
                             char problem[WEFT_TLS_PROBLEM_MAX]);
