// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Who listens at the other end of a Unix socket. Anyone may create a socket in /tmp, and would
// receive names and stacks; the agent sends them only to its own user, to root, and to whom the
// options name.

#pragma once

#include <stdbool.h>
#include <stddef.h>

// Sets who else may listen: a user and a group, by name or number; empty: no others. The strings
// must remain valid while connections are made.
void weft_peer_allow(const char *user, const char *group);

// Whether the process that called listen may be trusted. Blocks only to look up a name. Otherwise
// remembers the process for weft_peer_describe.
bool weft_peer_trusted(int fd);

// Says who listens there, and what to do about it.
void weft_peer_describe(char *why, size_t why_size, char *remedy, size_t remedy_size);
