// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The system's OpenSSL, 3 or 1.1, found at run time: neither the build nor a JVM without TLS needs
// it. Only the sender's thread uses it.

#pragma once

#include <stddef.h>
#include <stdint.h>

// What both versions have in common, from the manual pages of section 3.
enum {
    WEFT_OPENSSL_WANT_READ = 2,     // SSL_ERROR_WANT_READ
    WEFT_OPENSSL_WANT_WRITE = 3,    // SSL_ERROR_WANT_WRITE
    WEFT_OPENSSL_CLOSED = 6,        // SSL_ERROR_ZERO_RETURN
    WEFT_OPENSSL_VERIFY_PEER = 1,   // SSL_VERIFY_PEER
    WEFT_OPENSSL_PEM = 1,           // SSL_FILETYPE_PEM
    WEFT_OPENSSL_SET_NAME = 55,     // SSL_CTRL_SET_TLSEXT_HOSTNAME, for a host name (0)
    WEFT_OPENSSL_SET_MINIMUM = 123, // SSL_CTRL_SET_MIN_PROTO_VERSION
    WEFT_OPENSSL_TLS_1_2 = 0x0303,  // TLS1_2_VERSION
    WEFT_OPENSSL_BIO_PENDING = 10,  // BIO_CTRL_PENDING

    // X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS and X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
    WEFT_OPENSSL_STRICT_NAMES = 0x4 | 0x20,
};

#define WEFT_OPENSSL_NO_RENEGOTIATION UINT64_C(0x40000000) // SSL_OP_NO_RENEGOTIATION

// OPENSSL_INIT_NO_ATEXIT: while the JVM exits, the sender may still be at work.
// OPENSSL_INIT_LOAD_SSL_STRINGS, OPENSSL_INIT_LOAD_CRYPTO_STRINGS: texts of errors.
#define WEFT_OPENSSL_INIT UINT64_C(0x00280002)

typedef struct ssl_st weft_ssl;
typedef struct ssl_ctx_st weft_ssl_ctx;
typedef struct bio_st weft_bio;

// The result, the name and the parameters of each function.
#define WEFT_OPENSSL_FUNCTIONS(X)                                                                  \
    X(int, OPENSSL_init_ssl, (uint64_t options, const void *settings))                             \
    X(const void *, TLS_client_method, (void))                                                     \
    X(weft_ssl_ctx *, SSL_CTX_new, (const void *method))                                           \
    X(void, SSL_CTX_free, (weft_ssl_ctx *))                                                        \
    X(long, SSL_CTX_ctrl, (weft_ssl_ctx *, int command, long number, void *pointer))               \
    X(uint64_t, SSL_CTX_set_options, (weft_ssl_ctx *, uint64_t options))                           \
    X(void, SSL_CTX_set_verify, (weft_ssl_ctx *, int mode, void *callback))                        \
    X(int, SSL_CTX_load_verify_locations, (weft_ssl_ctx *, const char *file, const char *folder))  \
    X(int, SSL_CTX_set_default_verify_paths, (weft_ssl_ctx *))                                     \
    X(void, SSL_CTX_set_default_passwd_cb, (weft_ssl_ctx *, int (*)(char *, int, int, void *)))    \
    X(int, SSL_CTX_use_certificate_chain_file, (weft_ssl_ctx *, const char *file))                 \
    X(int, SSL_CTX_use_PrivateKey_file, (weft_ssl_ctx *, const char *file, int type))              \
    X(int, SSL_CTX_check_private_key, (const weft_ssl_ctx *))                                      \
    X(weft_ssl *, SSL_new, (weft_ssl_ctx *))                                                       \
    X(void, SSL_free, (weft_ssl *))                                                                \
    X(long, SSL_ctrl, (weft_ssl *, int command, long number, void *pointer))                       \
    X(int, SSL_set1_host, (weft_ssl *, const char *name))                                          \
    X(void, SSL_set_hostflags, (weft_ssl *, unsigned flags))                                       \
    X(void *, SSL_get0_param, (weft_ssl *))                                                        \
    X(int, X509_VERIFY_PARAM_set1_ip_asc, (void *param, const char *address))                      \
    X(void, SSL_set_bio, (weft_ssl *, weft_bio * in, weft_bio * out))                              \
    X(void, SSL_set_connect_state, (weft_ssl *))                                                   \
    X(int, SSL_do_handshake, (weft_ssl *))                                                         \
    X(int, SSL_read, (weft_ssl *, void *to, int len))                                              \
    X(int, SSL_write, (weft_ssl *, const void *from, int len))                                     \
    X(int, SSL_shutdown, (weft_ssl *))                                                             \
    X(int, SSL_get_error, (const weft_ssl *, int result))                                          \
    X(long, SSL_get_verify_result, (const weft_ssl *))                                             \
    X(const char *, X509_verify_cert_error_string, (long code))                                    \
    X(const void *, BIO_s_mem, (void))                                                             \
    X(weft_bio *, BIO_new, (const void *method))                                                   \
    X(int, BIO_free, (weft_bio *))                                                                 \
    X(int, BIO_read, (weft_bio *, void *to, int len))                                              \
    X(int, BIO_write, (weft_bio *, const void *from, int len))                                     \
    X(long, BIO_ctrl, (weft_bio *, int command, long number, void *pointer))                       \
    X(unsigned long, ERR_peek_last_error, (void))                                                  \
    X(void, ERR_clear_error, (void))                                                               \
    X(const char *, ERR_reason_error_string, (unsigned long code))

struct weft_openssl {
#define WEFT_OPENSSL_POINTER(result, name, parameters) result(*name) parameters;
    WEFT_OPENSSL_FUNCTIONS(WEFT_OPENSSL_POINTER)
#undef WEFT_OPENSSL_POINTER
};

// Loads the library at the first call that finds one; it stays loaded. NULL: there is none, and
// problem says so in one line with the remedy.
const struct weft_openssl *weft_openssl_load(char *problem, size_t size);
