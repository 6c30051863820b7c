// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests plain and TLS streams against a server of OpenSSL's, step by step on one thread. Without
// OpenSSL only its absence is tested.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certificate.h"
#include "harness.h"
#include "wire/openssl.h"
#include "wire/stream.h"

#if __has_include(<openssl/ssl.h>)
#include <assert.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
static_assert(WEFT_OPENSSL_WANT_READ == SSL_ERROR_WANT_READ, "");
static_assert(WEFT_OPENSSL_WANT_WRITE == SSL_ERROR_WANT_WRITE, "");
static_assert(WEFT_OPENSSL_CLOSED == SSL_ERROR_ZERO_RETURN, "");
static_assert(WEFT_OPENSSL_VERIFY_PEER == SSL_VERIFY_PEER, "");
static_assert(WEFT_OPENSSL_PEM == SSL_FILETYPE_PEM, "");
static_assert(WEFT_OPENSSL_SET_NAME == SSL_CTRL_SET_TLSEXT_HOSTNAME, "");
static_assert(TLSEXT_NAMETYPE_host_name == 0, "");
static_assert(WEFT_OPENSSL_SET_MINIMUM == SSL_CTRL_SET_MIN_PROTO_VERSION, "");
static_assert(WEFT_OPENSSL_TLS_1_2 == TLS1_2_VERSION, "");
static_assert(WEFT_OPENSSL_STRICT_NAMES ==
                  (X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT),
              "");
static_assert(WEFT_OPENSSL_NO_RENEGOTIATION == SSL_OP_NO_RENEGOTIATION, "");
static_assert(WEFT_OPENSSL_INIT == (OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_LOAD_SSL_STRINGS |
                                    OPENSSL_INIT_LOAD_CRYPTO_STRINGS),
              "");
#endif

static bool absent; // the library

// Replaces libc's dlopen.
void *dlopen(const char *name, int flags) {
    void *(*original)(const char *, int);
    void *address = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&original, &address, sizeof address);
    return absent ? NULL : original(name, flags);
}

static char folder[] = "/tmp/weft-stream-test-XXXXXX";
static char cert_file[64];
static char key_file[64];
static const struct weft_openssl *lib;

// A client and a server, and what is between them.
static struct weft_stream client;
static weft_ssl *server;
static int far;  // the client's other end
static int near; // the server's other end
static uint64_t carried;
static uint64_t flip_at; // this byte for the client arrives wrong

static void *find(const char *name) {
    void *library = dlopen("libssl.so.3", RTLD_LAZY | RTLD_LOCAL);
    library = library != NULL ? library : dlopen("libssl.so.1.1", RTLD_LAZY | RTLD_LOCAL);
    return dlsym(library, name);
}

static weft_ssl *new_server(int fd) {
    const void *(*method)(void);
    int (*set_fd)(weft_ssl *, int);
    void (*set_accept)(weft_ssl *);
    void *addresses[] = {find("TLS_server_method"), find("SSL_set_fd"),
                         find("SSL_set_accept_state")};
    memcpy(&method, &addresses[0], sizeof method);
    memcpy(&set_fd, &addresses[1], sizeof set_fd);
    memcpy(&set_accept, &addresses[2], sizeof set_accept);
    weft_ssl_ctx *ctx = lib->SSL_CTX_new(method());
    CHECK_INT(lib->SSL_CTX_use_certificate_chain_file(ctx, cert_file), 1);
    CHECK_INT(lib->SSL_CTX_use_PrivateKey_file(ctx, key_file, WEFT_OPENSSL_PEM), 1);
    weft_ssl *ssl = lib->SSL_new(ctx);
    lib->SSL_CTX_free(ctx);
    CHECK_INT(set_fd(ssl, fd), 1);
    set_accept(ssl);
    return ssl;
}

static void begin(const char *host) {
    int left[2];
    int right[2];
    char problem[WEFT_TLS_PROBLEM_MAX] = "";
    const struct weft_tls_config config = {.ca_file = cert_file};
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, left), 0);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, right), 0);
    client = (struct weft_stream){.fd = left[0]};
    far = left[1];
    near = right[1];
    carried = 0;
    CHECK(weft_stream_secure(&client, &config, host, problem));
    CHECK_STRING(problem, "");
    server = new_server(right[0]);
}

static bool carry(int from, int to, bool counted) {
    unsigned char data[4096];
    ssize_t n = recv(from, data, sizeof data, MSG_DONTWAIT);
    if (n <= 0) {
        return false;
    }
    for (ssize_t i = 0; counted && i < n; i++) {
        data[i] = (unsigned char)(data[i] ^ (++carried == flip_at ? 0x55 : 0));
    }
    return send(to, data, (size_t)n, MSG_NOSIGNAL) == n;
}

// Moves bytes both ways, and lets the server work.
static void turn(void) {
    carry(far, near, false);
    lib->ERR_clear_error();
    lib->SSL_do_handshake(server);
    lib->ERR_clear_error();
    carry(near, far, true);
}

static void end(void) {
    weft_stream_close(&client);
    int (*get_fd)(const weft_ssl *);
    void *address = find("SSL_get_fd");
    memcpy(&get_fd, &address, sizeof get_fd);
    int fd = get_fd(server);
    lib->SSL_free(server);
    close(fd);
    close(far);
    close(near);
}

// The result of the handshake; 0: it does not end.
static int shake(void) {
    enum { MOST = 100 };
    for (int i = 0; i < MOST; i++) {
        int done = weft_stream_handshake(&client);
        if (done != 0) {
            return done;
        }
        turn();
    }
    return 0;
}

TEST(a_plain_stream_is_a_socket) {
    int fds[2];
    char data[8];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct weft_stream s = {.fd = fds[0]};
    CHECK_INT(weft_stream_handshake(&s), 1);
    CHECK_INT(weft_stream_write(&s, "weft", 4), 4);
    CHECK_INT(recv(fds[1], data, sizeof data, 0), 4);
    CHECK_INT(weft_stream_read(&s, data, sizeof data), -1);
    CHECK_INT(errno, EAGAIN);
    CHECK(!weft_stream_pending(&s));
    CHECK_STRING(weft_stream_problem(&s), "");
    close(fds[1]);
    CHECK_INT(weft_stream_read(&s, data, sizeof data), 0);
    CHECK_INT(weft_stream_write(&s, "weft", 4), -1); // and no SIGPIPE
    weft_stream_close(&s);
    weft_stream_close(&s);
    CHECK_INT(s.fd, -1);
}

TEST(the_library_may_be_absent) {
    char problem[WEFT_TLS_PROBLEM_MAX] = "";
    const struct weft_tls_config config = {0};
    struct weft_stream s = {.fd = -1};
    absent = true;
    CHECK(!weft_stream_secure(&s, &config, "localhost", problem));
    CHECK(strstr(problem, "tls:// needs OpenSSL") != NULL);
    absent = false;
}

TEST(data_passes_both_ways) {
    static unsigned char sent[300000];
    static unsigned char seen[sizeof sent];
    for (size_t i = 0; i < sizeof sent; i++) {
        sent[i] = (unsigned char)(i * 7 + i / 251);
    }
    begin("localhost");
    CHECK_INT(shake(), 1);
    size_t out = 0;
    for (size_t in = 0; in < sizeof seen;) {
        ssize_t n = weft_stream_write(&client, sent + out, sizeof sent - out);
        CHECK(n > 0 || errno == EAGAIN || out == sizeof sent);
        out += n > 0 ? (size_t)n : 0;
        turn();
        int got = lib->SSL_read(server, seen + in, (int)(sizeof seen - in));
        in += got > 0 ? (size_t)got : 0;
        char nothing[1];
        CHECK_INT(weft_stream_read(&client, nothing, 1), -1); // also sends what waits
        CHECK_INT(errno, EAGAIN);
    }
    CHECK(memcmp(sent, seen, sizeof sent) == 0);
    CHECK(!weft_stream_pending(&client));
    memset(seen, 0, sizeof seen);
    out = 0;
    for (size_t in = 0; in < sizeof seen;) {
        int piece = sizeof sent - out < 1000 ? (int)(sizeof sent - out) : 1000;
        int n = piece == 0 ? 0 : lib->SSL_write(server, sent + out, piece);
        out += n > 0 ? (size_t)n : 0;
        turn();
        ssize_t got = weft_stream_read(&client, seen + in, sizeof seen - in);
        in += got > 0 ? (size_t)got : 0;
    }
    CHECK(memcmp(sent, seen, sizeof sent) == 0);
    end();
}

// A receiver that does not read gets one record at most, not all in memory.
TEST(a_full_socket_stops_writing) {
    static const char data[65536];
    begin("127.0.0.1");
    CHECK_INT(shake(), 1);
    size_t taken = 0;
    ssize_t n;
    while ((n = weft_stream_write(&client, data, sizeof data)) > 0) {
        CHECK(n <= 16384);
        taken += (size_t)n;
        if (taken > 64 * sizeof data) {
            break;
        }
    }
    CHECK_INT(n, -1);
    CHECK_INT(errno, EAGAIN);
    CHECK(weft_stream_pending(&client));
    end();
}

// Each change of keys is answered. A receiver that demands them and does not read is given up.
TEST(answers_to_the_peer_are_limited) {
    enum { MOST = 100000, REQUESTED = 1 };
    int (*key_update)(weft_ssl *, int);
    void *address = find("SSL_key_update");
    memcpy(&key_update, &address, sizeof key_update);
    begin("localhost");
    CHECK_INT(shake(), 1);
    for (int i = 0; i < 10; i++) {
        turn();
    }
    size_t backlog = 0;
    ssize_t n = -1;
    errno = EAGAIN;
    for (int i = 0; i < MOST && (n > 0 || errno == EAGAIN); i++) {
        char data[64];
        CHECK_INT(key_update(server, REQUESTED), 1);
        CHECK_INT(lib->SSL_write(server, "x", 1), 1);
        while (carry(near, far, true)) {
        }
        n = weft_stream_read(&client, data, sizeof data);
        backlog = weft_tls_backlog(client.tls);
        CHECK(backlog < 100000);
    }
    CHECK_INT(n, -1);
    CHECK_INT(errno, ENOBUFS);
    CHECK(backlog > 65536);
    end();
}

TEST(an_end_is_announced) {
    char data[8];
    begin("localhost");
    CHECK_INT(shake(), 1);
    for (int i = 0; i < 10; i++) {
        turn();
    }
    weft_tls_shut(client.tls);
    CHECK_INT(weft_stream_read(&client, data, sizeof data), -1); // sends it
    turn();
    int n = lib->SSL_read(server, data, sizeof data);
    CHECK_INT(lib->SSL_get_error(server, n), WEFT_OPENSSL_CLOSED);
    end();

    begin("localhost");
    CHECK_INT(shake(), 1);
    turn();
    lib->SSL_shutdown(server);
    turn();
    CHECK_INT(weft_stream_read(&client, data, sizeof data), 0);
    end();

    begin("localhost"); // cut
    CHECK_INT(shake(), 1);
    turn();
    shutdown(far, SHUT_WR);
    CHECK_INT(weft_stream_read(&client, data, sizeof data), -1);
    CHECK_INT(errno, ECONNRESET);
    end();

    begin("localhost"); // closed without a word
    shutdown(far, SHUT_RDWR);
    CHECK_INT(shake(), -1);
    CHECK_INT(errno, EPIPE);
    end();
}

TEST(the_name_is_verified) {
    static const char *const wrong[] = {"example.org", "127.0.0.2", "::1", "localhost.example.org"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(wrong[i]);
        CHECK_INT(shake(), -1);
        CHECK_INT(errno, EPROTO);
        CHECK(strstr(weft_stream_problem(&client), "is not for ") != NULL);
        end();
    }
    begin("localhost."); // absolute
    CHECK_INT(shake(), 1);
    end();
}

// A changed byte is a failure, or a handshake that does not end. It never passes.
TEST(corruption_is_detected) {
    char data[64];
    begin("localhost");
    CHECK_INT(shake(), 1);
    uint64_t bytes = carried;
    end();
    for (flip_at = 1; flip_at <= bytes; flip_at += 3) {
        begin("localhost");
        int done = shake();
        CHECK(done <= 0 || carried < flip_at);
        end();
    }
    flip_at = 0;
    begin("localhost");
    CHECK_INT(shake(), 1);
    turn();
    while (weft_stream_read(&client, data, sizeof data) > 0) {
    }
    flip_at = carried + 9;
    CHECK_INT(lib->SSL_write(server, "data", 4), 4);
    turn();
    CHECK_INT(weft_stream_read(&client, data, sizeof data), -1);
    CHECK_INT(errno, EPROTO);
    CHECK(strstr(weft_stream_problem(&client), "TLS failed: ") != NULL);
    CHECK_INT(weft_stream_write(&client, "data", 4), -1);
    flip_at = 0;
    end();
}

TEST(nonsense_is_refused) {
    unsigned char data[512];
    unsigned seed = 1;
    for (int round = 0; round < 500; round++) {
        begin("localhost");
        CHECK_INT(weft_stream_handshake(&client), 0);
        for (size_t i = 0; i < sizeof data; i++) {
            seed = seed * 1103515245 + 12345;
            data[i] = (unsigned char)(seed >> 16);
        }
        if (round % 2 == 0) { // the beginning of a record
            memcpy(data, (const unsigned char[]){0x16, 3, 3, 1, 0xF0}, 5);
        }
        CHECK_INT(send(far, data, sizeof data, MSG_NOSIGNAL), sizeof data);
        CHECK_INT(weft_stream_handshake(&client), -1);
        CHECK(weft_stream_problem(&client)[0] != '\0');
        end();
    }
}

static void put(char *path, size_t size, const char *name, const char *content) {
    snprintf(path, size, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL && fputs(content, f) >= 0 && fclose(f) == 0);
}

int main(void) {
    char problem[WEFT_TLS_PROBLEM_MAX];
    alarm(300);
    RUN(a_plain_stream_is_a_socket);
    RUN(the_library_may_be_absent);
    lib = weft_openssl_load(problem, sizeof problem);
    if (lib == NULL) {
        fprintf(stderr, "skipped: %s\n", problem);
        return harness_end("stream, without TLS");
    }
    CHECK(mkdtemp(folder) != NULL);
    put(cert_file, sizeof cert_file, "cert.pem", certificate);
    put(key_file, sizeof key_file, "key.pem", key);
    RUN(data_passes_both_ways);
    RUN(a_full_socket_stops_writing);
    RUN(answers_to_the_peer_are_limited);
    RUN(an_end_is_announced);
    RUN(the_name_is_verified);
    RUN(corruption_is_detected);
    RUN(nonsense_is_refused);
    unlink(cert_file);
    unlink(key_file);
    rmdir(folder);
    return harness_end("stream");
}
