// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/openssl.h"

enum { RECORD = 16384, BUFFER = 20480 };

struct weft_tls {
    const struct weft_openssl *lib;
    weft_ssl *ssl;
    weft_bio *in;  // encrypted bytes, as they arrived; both belong to ssl
    weft_bio *out; // to be sent, after those in the buffer
    bool ready;    // the handshake is done, and nothing failed since
    size_t pending_at;
    size_t pending_len;
    char name[256]; // to verify
    char problem[WEFT_TLS_PROBLEM_MAX];
    unsigned char buffer[BUFFER];
};

// An encrypted key must not make OpenSSL ask at the JVM's terminal.
static int no_password(char *buffer, int size, int writing, void *data) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

// OpenSSL's own messages about files need its manual.
static bool is_readable(const char *option, const char *path, char *problem) {
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *why = fd < 0 ? strerror(errno) : NULL;
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        why = "it is not a file";
    }
    if (fd >= 0) {
        close(fd);
    }
    if (why != NULL) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "%s: cannot read %.256s: %s; give the JVM's user a readable PEM file", option,
                 path, why);
    }
    return why == NULL;
}

static bool is_given(const char *text) {
    return text != NULL && text[0] != '\0';
}

static bool take_authorities(const struct weft_openssl *lib, weft_ssl_ctx *ctx, const char *file,
                             char *problem) {
    if (!is_given(file)) {
        if (lib->SSL_CTX_set_default_verify_paths(ctx) == 1) {
            return true;
        }
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "cannot read the authorities that this system trusts; set ca-file");
        return false;
    }
    if (!is_readable("ca-file", file, problem)) {
        return false;
    }
    if (lib->SSL_CTX_load_verify_locations(ctx, file, NULL) != 1) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "ca-file: no certificate in %.256s; want one or more in PEM form", file);
        return false;
    }
    return true;
}

static bool take_certificate(const struct weft_openssl *lib, weft_ssl_ctx *ctx,
                             const struct weft_tls_config *config, char *problem) {
    if (!is_given(config->cert_file) && !is_given(config->key_file)) {
        return true;
    }
    if (!is_given(config->cert_file) || !is_given(config->key_file)) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "%s is missing; set both cert-file and key-file, or neither",
                 is_given(config->cert_file) ? "key-file" : "cert-file");
        return false;
    }
    if (!is_readable("cert-file", config->cert_file, problem) ||
        !is_readable("key-file", config->key_file, problem)) {
        return false;
    }
    if (lib->SSL_CTX_use_certificate_chain_file(ctx, config->cert_file) != 1) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "cert-file: no usable certificate in %.256s; want PEM, this JVM's first",
                 config->cert_file);
        return false;
    }
    if (lib->SSL_CTX_use_PrivateKey_file(ctx, config->key_file, WEFT_OPENSSL_PEM) != 1 ||
        lib->SSL_CTX_check_private_key(ctx) != 1) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "key-file: %.256s has no key of the certificate in cert-file; want that key in "
                 "PEM form, without a password",
                 config->key_file);
        return false;
    }
    return true;
}

static weft_ssl_ctx *new_context(const struct weft_openssl *lib,
                                 const struct weft_tls_config *config, char *problem) {
    weft_ssl_ctx *ctx = lib->SSL_CTX_new(lib->TLS_client_method());
    if (ctx == NULL) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX, "OpenSSL cannot start; check its configuration");
        return NULL;
    }
    lib->SSL_CTX_set_default_passwd_cb(ctx, no_password);
    lib->SSL_CTX_set_options(ctx, WEFT_OPENSSL_NO_RENEGOTIATION);
    lib->SSL_CTX_set_verify(ctx, WEFT_OPENSSL_VERIFY_PEER, NULL);
    bool modern = lib->SSL_CTX_ctrl(ctx, WEFT_OPENSSL_SET_MINIMUM, WEFT_OPENSSL_TLS_1_2, NULL) == 1;
    if (!modern) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX, "OpenSSL has no TLS 1.2; update it");
    }
    if (!modern || !take_authorities(lib, ctx, config->ca_file, problem) ||
        !take_certificate(lib, ctx, config, problem)) {
        lib->SSL_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

// Sets which name or address the certificate must have. Names are also sent, so that a server with
// several certificates can choose.
static bool expect_name(struct weft_tls *t, const char *host, const char *server_name) {
    const char *want = is_given(server_name) ? server_name : host;
    size_t len = strlen(want);
    unsigned char address[sizeof(struct in6_addr)];
    if (len > 1 && want[len - 1] == '.') { // absolute in the DNS; certificates lack the dot
        len--;
    }
    if (len == 0 || len >= sizeof t->name) {
        return false;
    }
    memcpy(t->name, want, len);
    t->name[len] = '\0';
    if (inet_pton(AF_INET, t->name, address) == 1 || inet_pton(AF_INET6, t->name, address) == 1) {
        return t->lib->X509_VERIFY_PARAM_set1_ip_asc(t->lib->SSL_get0_param(t->ssl), t->name) == 1;
    }
    t->lib->SSL_set_hostflags(t->ssl, WEFT_OPENSSL_STRICT_NAMES);
    return t->lib->SSL_set1_host(t->ssl, t->name) == 1 &&
           t->lib->SSL_ctrl(t->ssl, WEFT_OPENSSL_SET_NAME, 0, t->name) == 1;
}

// Gives the connection its buffers, which it then owns.
static bool set_buffers(struct weft_tls *t) {
    weft_bio *in = t->lib->BIO_new(t->lib->BIO_s_mem());
    weft_bio *out = t->lib->BIO_new(t->lib->BIO_s_mem());
    if (in == NULL || out == NULL) {
        t->lib->BIO_free(in);
        t->lib->BIO_free(out);
        return false;
    }
    t->lib->SSL_set_bio(t->ssl, in, out);
    t->in = in;
    t->out = out;
    return true;
}

struct weft_tls *weft_tls_open(const struct weft_tls_config *config, const char *host,
                               char problem[WEFT_TLS_PROBLEM_MAX]) {
    const struct weft_openssl *lib = weft_openssl_load(problem, WEFT_TLS_PROBLEM_MAX);
    if (lib == NULL) {
        return NULL;
    }
    lib->ERR_clear_error();
    // A new one for each connection, because the files may have changed.
    weft_ssl_ctx *ctx = new_context(lib, config, problem);
    if (ctx == NULL) {
        lib->ERR_clear_error();
        return NULL;
    }
    struct weft_tls *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->lib = lib;
        t->ssl = lib->SSL_new(ctx);
    }
    lib->SSL_CTX_free(ctx); // the connection keeps it
    if (t == NULL || t->ssl == NULL || !set_buffers(t) ||
        !expect_name(t, host, config->server_name)) {
        snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                 "cannot verify the name \"%.128s\"; check endpoint and server-name",
                 is_given(config->server_name) ? config->server_name : host);
        lib->ERR_clear_error();
        weft_tls_free(t);
        return NULL;
    }
    lib->SSL_set_connect_state(t->ssl);
    return t;
}

void weft_tls_free(struct weft_tls *t) {
    if (t == NULL) {
        return;
    }
    t->lib->SSL_free(t->ssl);
    free(t);
}

// Why a certificate is rejected: codes X509_V_ERR_... of X509_verify_cert_error_string(3).
static void describe_certificate(struct weft_tls *t, long code) {
    const char *remedy = "check it, and ca-file";
    switch (code) {
    case 9:  // not yet valid
    case 10: // expired
        remedy = "renew it, or correct the clock";
        break;
    case 18: // self-signed
    case 19: // self-signed in the chain
    case 20: // unknown issuer
    case 21: // unknown issuer of the only certificate
        remedy = "set ca-file to the certificate of the authority that issued it";
        break;
    case 62: // host name
    case 64: // IP address
        snprintf(t->problem, sizeof t->problem,
                 "the receiver's certificate is not for %s; issue one with this subject "
                 "alternative name, or set server-name to one that it has",
                 t->name);
        return;
    default:
        break;
    }
    snprintf(t->problem, sizeof t->problem, "the receiver's certificate is refused: %.128s; %s",
             t->lib->X509_verify_cert_error_string(code), remedy);
}

static enum weft_tls_result fail(struct weft_tls *t) {
    enum { REASON = 0xFFF, ALERTS = 1000, WRONG_VERSION = 267 };
    const struct weft_openssl *lib = t->lib;
    unsigned long code = lib->ERR_peek_last_error();
    const char *reason = code == 0 ? NULL : lib->ERR_reason_error_string(code);
    const char *remedy = "see the receiver's log";
    long verified = lib->SSL_get_verify_result(t->ssl);
    t->ready = false;
    if (verified != 0) {
        describe_certificate(t, verified);
        lib->ERR_clear_error();
        return WEFT_TLS_FAILED;
    }
    switch (code & REASON) { // alerts of the receiver: RFC 8446, section 6.2
    case WRONG_VERSION:
        remedy = "check that the jvm_thread receiver listens there, with TLS";
        break;
    case ALERTS + 40:  // handshake failure: in TLS 1.2 also a missing certificate
    case ALERTS + 42:  // bad certificate
    case ALERTS + 116: // certificate required
        remedy = "set cert-file and key-file to a certificate that the receiver's client_ca_file "
                 "accepts";
        break;
    case ALERTS + 45: // expired
    case ALERTS + 46: // unknown
    case ALERTS + 48: // unknown authority
        remedy = "the receiver's client_ca_file does not accept the certificate in cert-file";
        break;
    default:
        break;
    }
    snprintf(t->problem, sizeof t->problem, "TLS failed: %.128s; %s",
             reason == NULL ? "broken connection" : reason, remedy);
    lib->ERR_clear_error();
    return WEFT_TLS_FAILED;
}

// Interprets a result that is not a success.
static enum weft_tls_result judge(struct weft_tls *t, int result) {
    switch (t->lib->SSL_get_error(t->ssl, result)) {
    case WEFT_OPENSSL_WANT_READ:
    case WEFT_OPENSSL_WANT_WRITE: // impossible: the buffer for output grows
        return WEFT_TLS_HUNGRY;
    case WEFT_OPENSSL_CLOSED:
        return WEFT_TLS_CLOSED;
    default:
        return fail(t);
    }
}

enum weft_tls_result weft_tls_handshake(struct weft_tls *t) {
    t->lib->ERR_clear_error();
    int result = t->lib->SSL_do_handshake(t->ssl);
    t->ready = result == 1;
    return t->ready ? WEFT_TLS_DONE : judge(t, result);
}

static int limited(size_t len) {
    return (int)(len < RECORD ? len : RECORD);
}

enum weft_tls_result weft_tls_read(struct weft_tls *t, void *to, size_t len, size_t *count) {
    t->lib->ERR_clear_error();
    int n = t->lib->SSL_read(t->ssl, to, limited(len));
    *count = n > 0 ? (size_t)n : 0;
    return n > 0 ? WEFT_TLS_DONE : judge(t, n);
}

enum weft_tls_result weft_tls_write(struct weft_tls *t, const void *from, size_t len,
                                    size_t *count) {
    t->lib->ERR_clear_error();
    int n = t->lib->SSL_write(t->ssl, from, limited(len));
    *count = n > 0 ? (size_t)n : 0;
    return n > 0 ? WEFT_TLS_DONE : judge(t, n);
}

bool weft_tls_feed(struct weft_tls *t, const void *data, size_t len) {
    return t->lib->BIO_write(t->in, data, (int)len) == (int)len;
}

size_t weft_tls_pending(struct weft_tls *t, const unsigned char **data) {
    if (t->pending_at == t->pending_len) {
        int n = t->lib->BIO_read(t->out, t->buffer, sizeof t->buffer);
        t->pending_at = 0;
        t->pending_len = n > 0 ? (size_t)n : 0;
    }
    *data = t->buffer + t->pending_at;
    return t->pending_len - t->pending_at;
}

void weft_tls_sent(struct weft_tls *t, size_t len) {
    t->pending_at += len;
}

size_t weft_tls_backlog(const struct weft_tls *t) {
    long more = t->lib->BIO_ctrl(t->out, WEFT_OPENSSL_BIO_PENDING, 0, NULL);
    return t->pending_len - t->pending_at + (more > 0 ? (size_t)more : 0);
}

void weft_tls_shut(struct weft_tls *t) {
    if (t->ready) {
        t->ready = false;
        t->lib->ERR_clear_error();
        t->lib->SSL_shutdown(
            t->ssl); // 0: the other side has not closed yet, for which it does not wait
        t->lib->ERR_clear_error();
    }
}

const char *weft_tls_problem(const struct weft_tls *t) {
    return t->problem;
}
