// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A way out for threads that the JVM does not know: a short-lived thread that it does.

#pragma once

#include <stdbool.h>
#include <stdint.h>

// Calls leave with the session, on a new thread that is attached to the JVM as a daemon. Returns at
// once; false if no thread could be created.
bool weft_leave_request(void (*leave)(uint64_t session), uint64_t session);
