// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <jni.h>
#include <stdbool.h>

// Whether this copy of the library is the agent of the JVM, with or without a session. Exported:
// other copies look it up by its name.
JNIEXPORT bool weft_agent_in_use(void);
