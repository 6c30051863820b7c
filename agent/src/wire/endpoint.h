// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The address of the receiver: unix:///path, tcp://host:port or, with TLS, tls://host:port. The
// empty one stands for the default sockets, the first of which that accepts is taken.

#pragma once

#include <stdbool.h>
#include <stddef.h>

// How long data sent over TCP may stay unacknowledged by the other machine.
enum { WEFT_ENDPOINT_SILENCE_MS = 30000 };

// Whether a user may give it; not the empty one.
bool weft_endpoint_valid(const char *endpoint);

// The host to verify if the endpoint requires TLS, otherwise false.
enum { WEFT_HOST_MAX = 256 };
bool weft_endpoint_secure(const char *endpoint, char host[WEFT_HOST_MAX]);

// Starts to connect; blocks only to look up a host name. Returns the socket, or -1 and errno
// (ENODATA: unknown host; EKEYREJECTED: the process that listens on a Unix socket is not trusted).
// In_progress: the connection is established when the socket becomes
// writable (see SO_ERROR).
int weft_endpoint_connect(const char *endpoint, bool *in_progress);

// How far such a socket is: 0 (connected), EINPROGRESS, or why it cannot be.
int weft_endpoint_progress(int fd);

// Describes the state of the connection in one line, with the cause of a failure and a remedy.
// Trouble is an errno: of weft_endpoint_connect, ENOMSG if no answer came, EPROTO if the other side
// closed, 0 if the first attempt is still open.
void weft_endpoint_describe(const char *endpoint, bool connected, int trouble, char *line,
                            size_t size);
