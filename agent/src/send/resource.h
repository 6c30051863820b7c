// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which process is this? OpenTelemetry's resource attributes, from the options, the environment and
// the JVM, in this order of precedence.

#ifndef WEFT_RESOURCE_H
#define WEFT_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

enum { WEFT_MAX_ATTRIBUTES = 64 };

struct weft_resource {
    struct weft_attribute list[WEFT_MAX_ATTRIBUTES]; // key and value are in allocated memory
    uint16_t count;
};

// Adds an attribute, if its key is not there yet. Strings are copied; an empty value is left out.
void weft_resource_add(struct weft_resource *r, const char *key, const char *value);

// Adds the attributes of a list as in OTEL_RESOURCE_ATTRIBUTES: key=value,key=value, both
// percent-encoded. As OpenTelemetry demands, a list with an error is ignored as a whole; then it
// returns false.
bool weft_resource_add_list(struct weft_resource *r, const char *list);

// Adds what the machine and the environment say; service is the option's value or empty.
void weft_resource_add_process(struct weft_resource *r, const char *service);

// Adds service.name (if nobody gave one) and process.command for a command line such as
// sun.java.command: only its first word, because arguments may be secrets.
void weft_resource_add_command(struct weft_resource *r, const char *command);

void weft_resource_free(struct weft_resource *r);

#endif
