// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where does the stream go? unix:///path or tcp://host:port.

#ifndef WEFT_ENDPOINT_H
#define WEFT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

// How long the other machine may leave what is sent over TCP unconfirmed.
enum { WEFT_ENDPOINT_SILENCE_MS = 30000 };

bool weft_endpoint_valid(const char *endpoint);

// Begins to connect, without blocking but for the look-up of a host name. Returns the socket, or
// -1 and errno, which is ENODATA if nobody knows the host. In_progress: the connection is there
// when the socket can be written to (see SO_ERROR).
int weft_endpoint_connect(const char *endpoint, bool *in_progress);

// Says in one line whether there is a connection, and if not, why and what to do. Trouble is an
// errno: of weft_endpoint_connect, or ENOMSG if no answer came, EPROTO if the other side closed, 0
// if nothing has come of the first attempt yet.
void weft_endpoint_describe(const char *endpoint, bool connected, int trouble, char *line,
                            size_t size);

#endif
