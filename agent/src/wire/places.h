// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a receiver listens that is not configured otherwise, as protocol/README.md defines it: the
// agent tries these sockets in order.

#pragma once

#include <stddef.h>

enum { WEFT_PLACES = 3 };

// Reads the environment; the others use what it said. Not for concurrent use with them.
void weft_places_look(void);

// The path of a socket, from 0; NULL after the last.
const char *weft_places_path(size_t index);

// Writes all of them as a phrase.
void weft_places_describe(char *text, size_t size);
