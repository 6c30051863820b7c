// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls of interrupt, and interrupts noticed: when an InterruptedException is created or when
// Thread.interrupted() clears the flag. java.util.concurrent does both.

#pragma once

#include "jvmti/hook.h"

extern const struct weft_hook weft_interrupt_hooks[]; // terminated by an empty hook
