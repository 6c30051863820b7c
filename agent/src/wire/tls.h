// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// One TLS connection as a client. It encrypts, decrypts and verifies; whoever owns the socket moves
// the bytes. So it never blocks, and never raises a signal. Only the sender's thread uses it.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct weft_tls_config {
    const char *ca_file;   // PEM; empty: the authorities that the system trusts
    const char *cert_file; // PEM with the chain; empty: no certificate of the client
    const char *key_file;
    const char *server_name; // that the certificate must have; empty: the endpoint's host
};

// A problem is one line: what is wrong, and the remedy.
enum { WEFT_TLS_PROBLEM_MAX = 512 };

struct weft_tls;

enum weft_tls_result {
    WEFT_TLS_DONE,
    WEFT_TLS_HUNGRY, // it needs more bytes from the other side
    WEFT_TLS_CLOSED, // by the other side
    WEFT_TLS_FAILED,
};

// Reads the files and prepares a connection to the host. Verifies its name, or its IP address. NULL
// on failure.
struct weft_tls *weft_tls_open(const struct weft_tls_config *config, const char *host,
                               char problem[WEFT_TLS_PROBLEM_MAX]);

// Nothing may be written or read before this is done.
enum weft_tls_result weft_tls_handshake(struct weft_tls *tls);

// Decrypt into, or encrypt from, len bytes; count: how many. Encrypts at most one record at once.
enum weft_tls_result weft_tls_read(struct weft_tls *tls, void *to, size_t len, size_t *count);
enum weft_tls_result weft_tls_write(struct weft_tls *tls, const void *from, size_t len,
                                    size_t *count);

// Encrypted bytes from the other side, and for it. The pending ones remain until they are sent.
bool weft_tls_feed(struct weft_tls *tls, const void *data, size_t len);
size_t weft_tls_pending(struct weft_tls *tls, const unsigned char **data);
void weft_tls_sent(struct weft_tls *tls, size_t len);

// How many bytes are pending in total.
size_t weft_tls_backlog(const struct weft_tls *tls);

// Adds to the pending bytes that nothing follows.
void weft_tls_shut(struct weft_tls *tls);

// Why it failed.
const char *weft_tls_problem(const struct weft_tls *tls);

void weft_tls_free(struct weft_tls *tls);
