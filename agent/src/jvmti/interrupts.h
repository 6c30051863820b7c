// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who interrupts whom, and who notices? An interrupt is noticed when an InterruptedException is
// made or when Thread.interrupted() clears the flag; java.util.concurrent does the one after the
// other.

#ifndef WEFT_INTERRUPTS_H
#define WEFT_INTERRUPTS_H

#include "jvmti/hook.h"

extern const struct weft_hook weft_interrupt_hooks[]; // ends with an empty one

#endif
