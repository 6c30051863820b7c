// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the conversation of a connection step by step, on one thread that is the receiver too.

#include "send/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"
#include "record/definitions.h"
#include "wire/endpoint.h"
#include "wire/secret.h"

static char path[64];
static char endpoint[80];
static struct weft_retain retain;
static struct weft_connection c;
static int listener;

// Longer than any pause between retries.
static const int64_t LONG_NS = 60000000000;
static int64_t now;

// What the receiver sends endlessly, if set.
static bool talking;

// Replaces libc's recv, which connections use for reading.
ssize_t recv(int fd, void *to, size_t len, int flags) {
    static const uint8_t newer[] = {0, 0, 0, 0, 0xE7, 3, 0, 0}; // an unknown frame, to be skipped
    (void)flags;
    if (!talking) {
        return read(fd, to, len);
    }
    size_t n = len - len % sizeof newer;
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)to)[i] = newer[i % sizeof newer];
    }
    return (ssize_t)n;
}

static void say(int fd, uint16_t kind, const void *payload, uint32_t len) {
    uint8_t frame[64] = {0};
    memcpy(frame, &len, sizeof len);
    memcpy(frame + 4, &kind, sizeof kind);
    memcpy(frame + WEFT_FRAME_HEADER_SIZE, payload, len);
    CHECK_INT(write(fd, frame, WEFT_FRAME_HEADER_SIZE + len), WEFT_FRAME_HEADER_SIZE + len);
}

static void say_number(int fd, uint16_t kind, uint64_t number) {
    say(fd, kind, &number, sizeof number);
}

// Reads what has arrived, and returns the kind of the last frame; 0 if there is none.
static uint16_t last_frame(int fd, bool preamble) {
    static uint8_t data[1 << 16];
    ssize_t n = read(fd, data, sizeof data);
    uint16_t kind = 0;
    for (ssize_t at = preamble ? WEFT_PREAMBLE_SIZE : 0; at < n;) {
        uint32_t len;
        memcpy(&len, data + at, sizeof len);
        memcpy(&kind, data + at + 4, sizeof kind);
        at += WEFT_FRAME_HEADER_SIZE + (ssize_t)len;
    }
    return kind;
}

// A connection that has sent one batch, not acknowledged yet.
static int begin(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct weft_hello hello = {.session = {1}};
    static const uint8_t batch[WEFT_FRAME_HEADER_SIZE + WEFT_BATCH_HEADER_SIZE] = {
        WEFT_BATCH_HEADER_SIZE, 0, 0, 0, WEFT_FRAME_BATCH, 0, 0, 0, 1};
    snprintf(path, sizeof path, "/tmp/weft-connection-test-%d.sock", (int)getpid());
    snprintf(endpoint, sizeof endpoint, "unix://%s", path);
    unlink(path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    CHECK(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 8) == 0);
    now = LONG_NS;
    weft_connection_init(&c, endpoint, &retain, &hello);
    CHECK(weft_retain_add(&retain, 1, weft_definitions_end(), batch, sizeof batch));
    weft_connection_step(&c, now);
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    CHECK(fd >= 0);
    CHECK_INT(last_frame(fd, true), WEFT_FRAME_HELLO);
    say_number(fd, WEFT_FRAME_WELCOME, 0);
    weft_connection_step(&c, now);
    CHECK_INT(last_frame(fd, false), WEFT_FRAME_BATCH);
    CHECK(!weft_connection_settled(&c));
    return fd;
}

static void end(int fd) {
    talking = false;
    weft_connection_close(&c, now);
    weft_retain_drop(&retain, UINT64_MAX);
    weft_retain_rewind(&retain);
    weft_bytes_free(&c.own);
    weft_bytes_free(&c.answers);
    close(fd);
    close(listener);
    unlink(path);
}

static void send_end(int fd) {
    c.end_wanted = true;
    weft_connection_step(&c, now);
    CHECK_INT(last_frame(fd, false), WEFT_FRAME_END);
}

// The last acknowledgement and the close arrive in one step.
TEST(stays_away_after_the_end) {
    int fd = begin();
    send_end(fd);
    say_number(fd, WEFT_FRAME_ACK, 1);
    weft_connection_step(&c, now);
    CHECK(!weft_connection_settled(&c)); // the end may still be lost
    say_number(fd, WEFT_FRAME_ACK, 1);
    close(fd);
    weft_connection_step(&c, now);
    CHECK_INT(c.state, WEFT_OFF);
    CHECK(weft_connection_settled(&c));
    weft_connection_step(&c, now + LONG_NS);
    CHECK_INT(c.attempts, 1);
    CHECK(accept4(listener, NULL, NULL, SOCK_NONBLOCK) < 0);
    end(-1);
}

// Unacknowledged batches are sent again, and the end after them.
TEST(reconnects_if_a_batch_is_unacknowledged) {
    int fd = begin();
    send_end(fd);
    close(fd);
    weft_connection_step(&c, now);
    CHECK(!weft_connection_settled(&c));
    now += LONG_NS;
    weft_connection_step(&c, now);
    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    CHECK(fd >= 0);
    say_number(fd, WEFT_FRAME_WELCOME, 0);
    CHECK_INT(last_frame(fd, true), WEFT_FRAME_HELLO);
    weft_connection_step(&c, now);
    CHECK_INT(last_frame(fd, false), WEFT_FRAME_END);
    end(fd);
}

// A receiver that refuses the end has not processed it.
TEST(reconnects_if_the_end_is_refused) {
    int fd = begin();
    send_end(fd);
    say_number(fd, WEFT_FRAME_ACK, 1);
    say(fd, WEFT_FRAME_REFUSE, "\4\0\0\0", 4);
    close(fd);
    weft_connection_step(&c, now);
    CHECK(!weft_connection_settled(&c));
    weft_connection_step(&c, now + LONG_NS);
    CHECK_INT(c.attempts, 2);
    end(-1);
}

// Nothing follows an end, not even an answer.
TEST(gives_no_answers_after_the_end) {
    int fd = begin();
    send_end(fd);
    say(fd, WEFT_FRAME_CONTROL, "\1\0\0\0\0\0", 6);
    weft_connection_step(&c, now);
    CHECK_INT(c.state, WEFT_STREAMING);
    CHECK(recv(fd, (char[1]){0}, 1, 0) < 0);
    end(fd);
}

// The agent's next hello, and the batch after it.
static int hear_hello(uint8_t session[16], uint8_t secret[16], uint64_t *acked) {
    uint8_t data[256];
    const uint8_t *at = data + WEFT_PREAMBLE_SIZE + WEFT_FRAME_HEADER_SIZE;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    CHECK(fd >= 0);
    CHECK_INT(read(fd, data, sizeof data),
              WEFT_PREAMBLE_SIZE + WEFT_FRAME_HEADER_SIZE + 16 + 8 + 8 + 4 + 8 + 2 + 16);
    memcpy(session, at, 16);
    memcpy(acked, at + 16 + 8 + 8 + 4, sizeof *acked);
    memcpy(secret, at + 16 + 8 + 8 + 4 + 8 + 2, 16);
    return fd;
}

// Somebody has sent more of the session than the agent: it takes another one, at once, and proves
// it. A receiver that claims this again and again has to wait.
TEST(takes_another_session_when_a_receiver_has_more) {
    int fd = begin();
    uint8_t before[16] = {1};
    for (int i = 0; i < 3; i++) {
        close(fd);
        weft_connection_step(&c, now);
        now += LONG_NS;
        weft_connection_step(&c, now);
        uint8_t session[16];
        uint8_t proved[16];
        uint8_t secret[16];
        uint64_t acked;
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        CHECK_INT(last_frame(fd, true), WEFT_FRAME_HELLO);
        say_number(fd, WEFT_FRAME_WELCOME, 2);
        weft_connection_step(&c, now);
        CHECK(c.mistaken);
        close(fd);
        weft_connection_renew(&c, now);
        CHECK(!c.mistaken);
        CHECK(i == 0 ? c.retry_at <= now : c.retry_at > now);
        now = c.retry_at;
        weft_connection_step(&c, now);
        fd = hear_hello(session, secret, &acked);
        weft_secret_session(secret, proved);
        CHECK(memcmp(session, proved, sizeof session) == 0);
        CHECK(memcmp(session, before, sizeof session) != 0);
        CHECK_INT(acked, 0);
        memcpy(before, session, sizeof before);
    }
    say_number(fd, WEFT_FRAME_WELCOME, 0);
    weft_connection_step(&c, now);
    CHECK_INT(last_frame(fd, false), WEFT_FRAME_BATCH);
    say_number(fd, WEFT_FRAME_ACK, 1);
    weft_connection_step(&c, now);
    CHECK_INT(c.hello.acked, 1);
    CHECK(!c.renewed);
    end(fd);
}

// A receiver that sends endlessly does not block the sender.
TEST(limits_reading_per_step) {
    int fd = begin();
    talking = true;
    weft_connection_step(&c, now); // otherwise the watchdog ends it
    CHECK_INT(c.state, WEFT_STREAMING);
    end(fd);
}

// Detects a machine that disappears silently.
TEST(detects_a_dead_machine) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char tcp[64];
    bool in_progress;
    unsigned patience = 0;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(server, (const struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(server, 1) == 0);
    CHECK(getsockname(server, (struct sockaddr *)&address, &len) == 0);
    snprintf(tcp, sizeof tcp, "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    int fd = weft_endpoint_connect(tcp, &in_progress);
    CHECK(fd >= 0);
    len = sizeof patience;
    CHECK(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, &len) == 0);
    CHECK_INT(patience, WEFT_ENDPOINT_SILENCE_MS);
    close(fd);
    close(server);
}

static const char *status(void) {
    static char line[512];
    weft_endpoint_describe("unix:///x", c.state == WEFT_STREAMING, c.trouble, line, sizeof line);
    return line;
}

static void expect_status(const char *what) {
    if (strstr(status(), what) == NULL) {
        CHECK_STRING(status(), what);
    }
}

TEST(reports_why_there_is_no_connection) {
    expect_status("not connected to unix:///x: no answer yet; ");
    int fd = begin();
    CHECK_STRING(status(), "connected to unix:///x");
    close(fd);
    weft_connection_step(&c, now);
    expect_status("closed the connection; if it is the jvm_thread receiver, see its log");
    now += LONG_NS;
    weft_connection_step(&c, now);
    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    CHECK_INT(last_frame(fd, true), WEFT_FRAME_HELLO);
    expect_status("closed the connection"); // still: no answer has come
    now += LONG_NS;
    weft_connection_step(&c, now);
    expect_status("does not answer; check that it is the jvm_thread receiver");
    close(fd);
    close(listener);
    now += LONG_NS;
    weft_connection_step(&c, now);
    expect_status("Connection refused; check that a collector listens there");
    unlink(path);
    now += LONG_NS;
    weft_connection_step(&c, now);
    expect_status("No such file or directory; check that a collector listens there");
    bool in_progress;
    char unknown[128] = "tcp://"; // a name that is too long to resolve
    memset(unknown + 6, 'a', 100);
    memcpy(unknown + 106, ":1", 3);
    CHECK_INT(weft_endpoint_connect(unknown, &in_progress), -1);
    CHECK_INT(errno, ENODATA);
    end(-1);
}

// Sends a batch, and returns how many readings of the clocks precede it; -1 if something is wrong.
static int clocks_before_batch(int fd, uint64_t sequence) {
    static uint8_t data[1 << 12];
    const uint8_t batch[WEFT_FRAME_HEADER_SIZE + WEFT_BATCH_HEADER_SIZE] = {
        WEFT_BATCH_HEADER_SIZE, 0, 0, 0, WEFT_FRAME_BATCH, 0, 0, 0, (uint8_t)sequence};
    CHECK(weft_retain_add(&retain, sequence, weft_definitions_end(), batch, sizeof batch));
    weft_connection_step(&c, now);
    ssize_t n = read(fd, data, sizeof data);
    int clocks = 0;
    for (ssize_t at = 0; at < n;) {
        uint32_t len;
        memcpy(&len, data + at, sizeof len);
        if (data[at + 4] == WEFT_FRAME_CLOCK) {
            CHECK_INT(len, 16);
            clocks++;
        }
        at += WEFT_FRAME_HEADER_SIZE + (ssize_t)len;
        if (at == n && memcmp(data + n - sizeof batch, batch, sizeof batch) != 0) {
            return -1;
        }
    }
    return clocks;
}

// The clocks are sent before the first batch of a connection, and once a second.
TEST(sends_the_clocks_each_second) {
    int fd = begin();
    CHECK_INT(c.clock_sent, now);
    CHECK_INT(clocks_before_batch(fd, 2), 0);
    now += 999999999;
    CHECK_INT(clocks_before_batch(fd, 3), 0);
    now += 1;
    CHECK_INT(clocks_before_batch(fd, 4), 1);
    CHECK_INT(clocks_before_batch(fd, 5), 0);
    end(fd);
}

int main(void) {
    alarm(300);
    weft_definitions_init(1U << 20);
    RUN(reports_why_there_is_no_connection);
    RUN(stays_away_after_the_end);
    RUN(reconnects_if_a_batch_is_unacknowledged);
    RUN(reconnects_if_the_end_is_refused);
    RUN(gives_no_answers_after_the_end);
    RUN(takes_another_session_when_a_receiver_has_more);
    RUN(limits_reading_per_step);
    RUN(detects_a_dead_machine);
    RUN(sends_the_clocks_each_second);
    return harness_end("connection");
}
