// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenTelemetry's resource attributes of the process, from the options, the SDK, the environment
// and the JVM, in this order of precedence.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

enum { WEFT_MAX_ATTRIBUTES = 64 };

struct weft_resource {
    struct weft_attribute list[WEFT_MAX_ATTRIBUTES]; // keys and values are allocated
    uint16_t count;
};

// Adds an attribute unless its key exists. Copies the strings; ignores empty values.
void weft_resource_add(struct weft_resource *r, const char *key, const char *value);

// Adds the attributes of OTEL_RESOURCE_ATTRIBUTES: key=value,key=value, both percent-encoded. As
// OpenTelemetry requires, an invalid list is ignored completely; returns false then.
bool weft_resource_add_list(struct weft_resource *r, const char *list);

// Adds attributes of the environment and the machine. The system property otel.resource.attributes
// replaces the variable of that name; NULL: it is not set.
void weft_resource_add_process(struct weft_resource *r, const char *property);

// Adds service.name (if not given) and process.command from a command line such as
// sun.java.command: only its first word, because arguments may contain secrets.
void weft_resource_add_command(struct weft_resource *r, const char *command);

// Writes the session's id as receivers do, in hexadecimal, and returns it.
enum { WEFT_SESSION_TEXT = 2 * 16 + 1 };
const char *weft_resource_session(const uint8_t id[16], char text[WEFT_SESSION_TEXT]);

// Replaces the value of an attribute. Returns false if there is none, or out of memory.
bool weft_resource_replace(struct weft_resource *r, const char *key, const char *value);

// Adds service.instance.id (if not given) as receivers would: the session's id.
void weft_resource_add_session(struct weft_resource *r, const uint8_t id[16]);

void weft_resource_free(struct weft_resource *r);
