// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every event arrives once and in order, whatever the receiver does. Threads write into
// buffers; the real sender sends them over a real socket to the witness. Each scenario needs its
// own process, because the sender starts once: without arguments, sender_test runs itself for each.

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sending.h"

#define MS ((int64_t)1000000)

TEST(plain) {
    pthread_t thread;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(3, 4, 20000, 0, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK_INT(server.witness.connections, 1);
}

// A tiny pool: most events are lost and reported as lost.
TEST(overflow) {
    pthread_t thread;
    start_server(&thread);
    start_sender(64U << 10, 8U << 20);
    uint64_t events = run_writers(2, 8, 20000, 0, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK(server.witness.lost > 0);
}

TEST(churn) {
    pthread_t thread;
    start_server(&thread);
    start_sender(1U << 20, 8U << 20);
    uint64_t events = run_writers(1000, 8, 5, 0, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
    CHECK_INT(weft_pool_used(), 0);
}

TEST(cut) {
    pthread_t thread;
    server.cut = 3;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = 0;
    while (atomic_load(&server.cuts) == 0) {
        events += run_writers(2, 4, 3000, 300, write_events);
    }
    server.cut = 0;
    finish_after(thread, events);
    expect(events);
    CHECK(server.witness.connections > 1);
}

TEST(rude) {
    pthread_t thread;
    server.garbage = 3;
    server.refuse = 1;
    server.silent = 1;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(1, 4, 5000, 2000, write_events);
    finish_after(thread, events);
    expect(events);
}

// Somebody else has sent batches of the session to the receiver: the agent continues with another
// session, twice, since the receiver claims that again. Nothing is lost or counted twice.
TEST(taken_over) {
    pthread_t thread;
    server.leave = 3;
    server.ahead = 3;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    uint64_t events = 0;
    while (atomic_load(&server.leave) > 0) {
        events += run_writers(1, 4, 1000, 300, write_events);
    }
    events += run_writers(2, 4, 3000, 300, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK_INT(server.witness.sessions, 2);
    CHECK_INT(renewals, 3);
    CHECK(server.witness.newest < server.witness.batches); // numbered from 1 again
}

// No receiver at first: what does not fit is lost; everything is accounted for later.
static void connect_late(void *write(void *)) {
    pthread_t thread;
    start_sender(256U << 10, 1U << 20);
    uint64_t events = run_writers(20, 8, 10000, 0, write);
    start_server(&thread);
    events += run_writers(1, 2, 1000, 5000, write);
    finish_after(thread, events);
    expect(events);
    CHECK(server.witness.lost > 0);
}

TEST(late) {
    connect_late(write_events);
    CHECK(weft_roster_size() < WEFT_ROSTER_GONE + 100);
}

// A gap of a thread that ends while nothing more fits is not a lost event.
TEST(late_blind) {
    connect_late(write_blindly);
}

TEST(unacknowledged) {
    pthread_t thread;
    server.forget = 1;
    finish_ms = 5000; // never settled
    start_server(&thread);
    start_sender(16U << 20, 1U << 20);
    uint64_t events = run_writers(1, 2, 4000, 10, write_events);
    finish_after(thread, events);
    expect(events);
}

static void await_expiry(void) {
    while (atomic_load(&expiries) < 2) {
        usleep(1000);
    }
}

// Without a receiver, the session expires, and says so until that succeeds, but not again.
TEST(expiry_without_receiver) {
    give_up = 100 * MS;
    int64_t began = weft_clock();
    start_sender(16U << 20, 8U << 20);
    await_expiry();
    CHECK(weft_clock() - began >= give_up);
    finish_ms = 1000;
    weft_sender_finish(WEFT_END_DETACHED);
    CHECK_INT(atomic_load(&expiries), 2);
}

// With a receiver, only its duration ends the session. All events arrive.
TEST(expiry_after_duration) {
    pthread_t thread;
    start_server(&thread);
    give_up = 300 * MS;
    duration = 1000 * MS;
    int64_t began = weft_clock();
    start_sender(16U << 20, 8U << 20);
    uint64_t events = run_writers(1, 4, 1000, 0, write_events);
    await_expiry();
    CHECK(weft_clock() - began >= duration);
    finish_after(thread, events);
    expect(events);
}

// Without a receiver it ends anyway.
TEST(absent) {
    finish_ms = 500;
    start_sender(1U << 20, 1U << 20);
    run_writers(1, 2, 1000, 0, write_events);
    weft_sender_finish(WEFT_END_EXIT);
}

// Forbids this thread, and those that it starts, a system call.
static void deny(unsigned call) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_INT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

// The session does not begin, and the remedy is not about memory.
TEST(denied_event) {
    char problem[WEFT_PROBLEM_MAX] = "";
    struct weft_sender_config config = {.endpoint = "unix:///nowhere", .retain = 1U << 20};
    CHECK(weft_pool_init(1U << 20));
    deny(SYS_eventfd2);
    CHECK(!weft_sender_start(&config, problem));
    CHECK_STRING(problem, "cannot create an eventfd: Operation not permitted; allow this process "
                          "the system call, or more open files");
}

// One line on standard error says so, since it lasts.
static void denied(unsigned call) {
    char got[512] = "";
    char want[512];
    char file[sizeof path + 8];
    snprintf(file, sizeof file, "%s.err", path);
    snprintf(want, sizeof want,
             "weft: not connected to unix://%s: Operation not permitted; a filter of system calls "
             "(seccomp) or of packets forbids it: allow it, or use another endpoint\n",
             path);
    CHECK(server_listen(&server, path)); // it does not need to accept
    int before = dup(STDERR_FILENO);
    int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(fd, STDERR_FILENO);
    deny(call);
    finish_ms = 500;
    start_sender(1U << 20, 1U << 20);
    while (pread(fd, got, sizeof got - 1, 0) < (ssize_t)strlen(want)) {
        usleep(1000);
    }
    weft_sender_finish(WEFT_END_EXIT);
    dup2(before, STDERR_FILENO);
    CHECK(pread(fd, got, sizeof got - 1, 0) > 0);
    CHECK_STRING(got, want);
    unlink(file);
}

TEST(denied_socket) {
    denied(SYS_socket);
}

TEST(denied_sending) {
    denied(SYS_sendto);
}

// While a session runs or ends, no other can begin.
TEST(again) {
    pthread_t thread;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    struct weft_sender_config config = {.endpoint = "unix:///nowhere", .retain = 1U << 20};
    CHECK(weft_sender_runs());
    for (int i = 0; i < 3; i++) {
        char problem[WEFT_PROBLEM_MAX];
        CHECK(!weft_sender_start(&config, problem));
        CHECK_STRING(problem, "a session is running; end it first");
    }
    uint64_t events = run_writers(1, 4, 1000, 0, write_events);
    finish_after(thread, events);
    expect(events);
    CHECK(!weft_sender_runs());
}

// Short-lived threads do not pile up without a receiver.
TEST(absent_churn) {
    finish_ms = 500;
    start_sender(64U << 10, 1U << 20);
    run_writers(1, 4, 30000, 10, write_events); // fills the retained batches
    run_writers(1000, 8, 5, 0, write_events);
    // Otherwise the watchdog ends it.
    while (weft_roster_waiting() > 0 || weft_roster_size() >= WEFT_ROSTER_GONE + 100) {
        usleep(1000);
    }
    weft_sender_finish(WEFT_END_EXIT);
}

TEST(hopping) {
    pthread_t thread;
    start_server(&thread);
    start_sender(16U << 20, 8U << 20);
    weft_roster_announce(1000000, WEFT_THREAD_VIRTUAL, "v", "");
    uint64_t events = run_writers(1, 4, 10000, 0, carry_events);
    finish_after(thread, events);
    expect(events);
}

// A thread stuck in an event holds back all virtual threads: only a limited number of their records
// is kept, and the rest is reported lost.
TEST(held_up) {
    pthread_t thread;
    start_server(&thread);
    start_sender(64U << 10, 8U << 20);
    weft_roster_announce(1000000, WEFT_THREAD_VIRTUAL, "v", "");
    struct weft_buffer *stuck = weft_buffer_open(2000000);
    weft_buffer_begin(stuck);
    uint64_t events = run_writers(1, 4, 10000, 0, carry_events);
    weft_buffer_end(stuck);
    finish_after(thread, events);
    expect(events);
    CHECK(server.witness.lost > 0);
}

// What a thread of the agent could not write is reported as lost, also at the end of the session,
// although no thread of the receiver stands for it.
TEST(overflow_for_others) {
    pthread_t thread;
    start_server(&thread);
    start_sender(64U << 10, 8U << 20);
    weft_roster_announce(1000000, WEFT_THREAD_VIRTUAL, "v", "");
    uint64_t events = run_writers(2, 8, 20000, 0, carry_for_others);
    finish(thread);
    expect(events);
    CHECK(server.witness.lost > 0);
}

static const struct scenario scenarios[] = {
    {"plain", plain},
    {"overflow", overflow},
    {"churn", churn},
    {"cut", cut},
    {"rude", rude},
    {"late", late},
    {"late_blind", late_blind},
    {"expiry_without_receiver", expiry_without_receiver},
    {"expiry_after_duration", expiry_after_duration},
    {"absent", absent},
    {"absent_churn", absent_churn},
    {"hopping", hopping},
    {"unacknowledged", unacknowledged},
    {"again", again},
    {"denied_event", denied_event},
    {"denied_socket", denied_socket},
    {"denied_sending", denied_sending},
    {"held_up", held_up},
    {"overflow_for_others", overflow_for_others},
    {"taken_over", taken_over},
};

int main(int argc, char **argv) {
    return run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof scenarios[0]);
}
