// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The identity of OpenTelemetry's SDK in this JVM, as weft-otel.jar reports it. Sessions use the
// same, so that trace stores take the agent's spans and the application's for one service.

#pragma once

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "send/resource.h"

// Looks for what the jar left in system properties before the agent was attached. Calls Java.
void weft_sdk_look(JNIEnv *env);

// Adds service.name and service.instance.id of the SDK, if it has been configured already, and
// those of the properties from which it will take them. Calls no Java.
void weft_sdk_describe(struct weft_resource *resource);

// Makes the identity of a session that begins known to an SDK that is configured later.
void weft_sdk_begin(const struct weft_resource *resource, const uint8_t session[16]);

// The session continues under another identity: changes service.instance.id where it is the
// session's, unless an SDK has adopted that. Returns whether the resource has changed. Makes no JVM
// calls.
bool weft_sdk_renew(struct weft_resource *resource, const uint8_t before[16],
                    const uint8_t session[16]);

// Calls the function with each line that a user should read about the SDK: whether the current
// spans are reported, and names that differ. Calls Java.
void weft_sdk_show(JNIEnv *env, void (*line)(void *to, const char *text), void *to);
