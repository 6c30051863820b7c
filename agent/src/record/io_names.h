// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a wait for I/O is called, such as "reading from 10.0.0.7:5432". The name takes the place of
// the class of a lock.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/system_call.h"

// Addresses of clients, files and processes could be any number. Beyond that, names have none.
enum { WEFT_IO_NAMES = 512, WEFT_IO_NAME_MAX = 320 };

// Describes the wait: with the peer, path or process if exact, else with its sort only. False if it
// is not known to be I/O after all.
bool weft_io_names_describe(const struct weft_io *io, bool exact, char name[WEFT_IO_NAME_MAX]);

// Returns the id of that name, 0 if there is none. One thread at a time.
uint32_t weft_io_names_id(const struct weft_io *io, bool exact);
