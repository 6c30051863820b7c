// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The secret of a session. The session's ID is derived from it, so that any receiver can check that
// an agent owns its session, and knowing the ID does not help to take it over.

#pragma once

#include <stdint.h>

enum { WEFT_SECRET_SIZE = 16, WEFT_SESSION_SIZE = 16 };

// Draws a random secret and derives the ID of its session. Does not block, and calls nothing of the
// JVM.
void weft_secret_draw(uint8_t secret[WEFT_SECRET_SIZE], uint8_t session[WEFT_SESSION_SIZE]);

// Derives the ID, as protocol/README.md defines it.
void weft_secret_session(const uint8_t secret[WEFT_SECRET_SIZE],
                         uint8_t session[WEFT_SESSION_SIZE]);
