// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What is read of a thread's system call, what it is called, and when it is a wait.

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "record/definitions.h"
#include "record/io_names.h"
#include "record/sighting.h"
#include "record/system_call.h"
#include "record/usage.h"

enum { MILLISECOND = 1000000 };

TEST(lines_of_proc_are_parsed) {
    struct weft_system_call call;
    struct weft_usage used;
    CHECK(weft_system_call_parse("running\n", &call));
    CHECK_INT(call.number, WEFT_RUNNABLE);
    CHECK(weft_system_call_parse("-1 0x7ffd 0x7f01\n", &call));
    CHECK_INT(call.number, WEFT_OUTSIDE);
    CHECK(weft_system_call_parse("0 0x13 0x7f7cd4006b20 0x1 0xc 0x0 0x6 0x7f 0x7f\n", &call));
    CHECK_INT(call.number, 0);
    CHECK_INT(call.arguments[0], 0x13);
    CHECK_INT(call.arguments[1], 0x7f7cd4006b20);
    CHECK_INT(call.arguments[2], 1);
    CHECK(!weft_system_call_parse("", &call));
    CHECK(!weft_system_call_parse("stopped\n", &call));
    CHECK(!weft_system_call_parse("-3 0x1\n", &call));
    CHECK(weft_usage_parse("2323840 423350 5\n", &used));
    CHECK_INT(used.cpu, 2323840);
    CHECK_INT(used.queued, 423350);
    CHECK(!weft_usage_parse("0 0 0\n", &used)); // the kernel does not count
    CHECK(!weft_usage_parse("1 2\n", &used));
    CHECK(!weft_usage_parse("-1 2 3\n", &used));
}

static struct weft_io io_of(int64_t number, uint64_t a, uint64_t b, int memory) {
    const struct weft_system_call call = {number, {a, b}};
    return weft_system_call_io(&call, memory);
}

TEST(only_calls_for_io_are_waits_for_it) {
    CHECK_INT(io_of(SYS_read, 7, 0, -1).verb, WEFT_IO_READ);
    CHECK_INT(io_of(SYS_read, 7, 0, -1).of, 7);
    CHECK_INT(io_of(SYS_writev, 8, 0, -1).verb, WEFT_IO_WRITE);
    CHECK_INT(io_of(SYS_fdatasync, 8, 0, -1).verb, WEFT_IO_SYNC);
    CHECK_INT(io_of(SYS_accept4, 8, 0, -1).verb, WEFT_IO_CLIENTS);
    CHECK_INT(io_of(SYS_epoll_pwait, 8, 0, -1).verb, WEFT_IO_EVENTS);
    CHECK_INT(io_of(SYS_fcntl, 8, F_SETLKW, -1).verb, WEFT_IO_LOCK);
    CHECK_INT(io_of(SYS_fcntl, 8, F_GETFL, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(SYS_wait4, 4711, 0, -1).verb, WEFT_IO_EXIT);
    CHECK_INT(io_of(SYS_wait4, 4711, 0, -1).of, 4711);
    CHECK_INT(io_of(SYS_wait4, (uint32_t)-1, 0, -1).of, -1);
    CHECK_INT(io_of(SYS_waitid, P_PID, 4711, -1).of, 4711);
    CHECK_INT(io_of(SYS_futex, 7, 0, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(SYS_clock_nanosleep, 0, 0, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(SYS_sched_yield, 0, 0, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(SYS_mmap, 0, 0, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(SYS_ppoll, 0, 0, -1).verb, WEFT_IO_NONE); // of nothing: it sleeps
    CHECK_INT(io_of(SYS_ppoll, 0, 3, -1).verb, WEFT_IO_EVENTS);
    CHECK_INT(io_of(WEFT_RUNNABLE, 0, 0, -1).verb, WEFT_IO_NONE);
    CHECK_INT(io_of(WEFT_OUTSIDE, 0, 0, -1).verb, WEFT_IO_NONE);
}

// Sockets on the loopback address: one that listens, and a connected pair.
static int listener;
static int client;
static int accepted;
static char server_address[32];

static void open_sockets(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_INT(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
    CHECK_INT(listen(listener, 1), 0);
    CHECK_INT(getsockname(listener, (struct sockaddr *)&a, &size), 0);
    CHECK_INT(connect(client, (struct sockaddr *)&a, sizeof a), 0);
    accepted = accept(listener, NULL, NULL);
    snprintf(server_address, sizeof server_address, "127.0.0.1:%d", ntohs(a.sin_port));
}

TEST(a_poll_of_one_descriptor_is_for_what_it_waits) {
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    struct pollfd p = {.fd = client, .events = POLLIN};
    const uint64_t at = (uint64_t)(uintptr_t)&p;
    CHECK_INT(io_of(SYS_ppoll, at, 1, memory).verb, WEFT_IO_READ);
    CHECK_INT(io_of(SYS_ppoll, at, 1, memory).of, client);
    p.events = POLLOUT;
    CHECK_INT(io_of(SYS_ppoll, at, 1, memory).verb, WEFT_IO_WRITE);
    p = (struct pollfd){.fd = listener, .events = POLLIN};
    CHECK_INT(io_of(SYS_ppoll, at, 1, memory).verb, WEFT_IO_CLIENTS);
    p = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLOUT};
    CHECK_INT(io_of(SYS_ppoll, at, 1, memory).verb, WEFT_IO_CONNECT);
    close(p.fd);
    CHECK_INT(io_of(SYS_ppoll, 8, 1, memory).verb, WEFT_IO_EVENTS); // no memory there
    CHECK_INT(io_of(SYS_ppoll, at, 1, -1).verb, WEFT_IO_EVENTS);
    close(memory);
}

static const char *name(enum weft_io_verb verb, int of, bool exact) {
    static char text[WEFT_IO_NAME_MAX];
    const struct weft_io io = {verb, of};
    return weft_io_names_describe(&io, exact, text) ? text : "none";
}

TEST(names_say_what_is_at_the_other_end) {
    int ends[2];
    char path[] = "/tmp/weft-calls-XXXXXX";
    char want[64];
    int file = mkstemp(path);
    int events = eventfd(0, 0);
    CHECK_INT(pipe(ends), 0);
    snprintf(want, sizeof want, "reading from %s", server_address);
    CHECK_STRING(name(WEFT_IO_READ, client, true), want);
    CHECK_STRING(name(WEFT_IO_READ, client, false), "reading from a socket");
    CHECK_STRING(name(WEFT_IO_WRITE, ends[1], true), "writing to a pipe");
    snprintf(want, sizeof want, "syncing %s", path);
    CHECK_STRING(name(WEFT_IO_SYNC, file, true), want);
    CHECK_STRING(name(WEFT_IO_SYNC, file, false), "syncing a file");
    CHECK_STRING(name(WEFT_IO_EXIT, 4711, true), "waiting for process 4711 to end");
    CHECK_STRING(name(WEFT_IO_EXIT, 4711, false), "waiting for a process to end");
    CHECK_STRING(name(WEFT_IO_EVENTS, 9, true), "waiting for the network");
    CHECK_STRING(name(WEFT_IO_READ, events, true), "none"); // it may be anything
    CHECK_STRING(name(WEFT_IO_READ, 999, true), "none");
    CHECK_STRING(name(WEFT_IO_READ, -1, true), "none");
    int out = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    CHECK_STRING(name(WEFT_IO_WRITE, STDOUT_FILENO, true), "writing to standard output (a pipe)");
    dup2(file, STDOUT_FILENO);
    snprintf(want, sizeof want, "writing to standard output (%s)", path);
    CHECK_STRING(name(WEFT_IO_WRITE, STDOUT_FILENO, true), want);
    CHECK_STRING(name(WEFT_IO_WRITE, STDOUT_FILENO, false), "writing to standard output (a file)");
    dup2(out, STDOUT_FILENO);
    unlink(path);
    close(out);
    close(file);
    close(events);
    close(ends[0]);
    close(ends[1]);
}

TEST(ids_are_few) {
    weft_definitions_init(1U << 20);
    struct weft_io io = {WEFT_IO_EXIT, 1};
    uint32_t first = weft_io_names_id(&io, true);
    CHECK(first != 0);
    CHECK_INT(weft_io_names_id(&io, true), first);
    for (io.of = 2; io.of < 2 * WEFT_IO_NAMES; io.of++) {
        CHECK(weft_io_names_id(&io, true) != 0);
    }
    uint32_t sort = weft_io_names_id(&io, false);
    CHECK_INT(weft_io_names_id(&io, true), sort); // no further process has a name of its own
    CHECK(sort != first);
}

static struct weft_sight seen_at(int milliseconds, enum weft_io_verb verb, int of, int active) {
    return (struct weft_sight){.time = (int64_t)milliseconds * MILLISECOND,
                               .io = {verb, of},
                               .active = (int64_t)active * MILLISECOND};
}

static enum weft_verdict next(struct weft_sightings *s, struct weft_sight sight) {
    return weft_sighting_next(s, &sight);
}

TEST(two_looks_in_a_row_make_a_wait) {
    struct weft_sightings s = {0};
    CHECK_INT(next(&s, seen_at(10, WEFT_IO_READ, 7, 100)), WEFT_SEEN_NOTHING_NEW);
    CHECK_INT(next(&s, seen_at(20, WEFT_IO_READ, 7, 101)), WEFT_SEEN_WAITING);
    CHECK_INT(s.since, 10 * MILLISECOND);
    CHECK_INT(next(&s, seen_at(30, WEFT_IO_READ, 7, 101)), WEFT_SEEN_WAITING); // not reported yet
    s.reported = true;
    CHECK_INT(next(&s, seen_at(40, WEFT_IO_READ, 7, 101)), WEFT_SEEN_NOTHING_NEW);
    CHECK_INT(next(&s, seen_at(50, WEFT_IO_NONE, 0, 0)), WEFT_SEEN_GONE);
    CHECK_INT(next(&s, seen_at(60, WEFT_IO_NONE, 0, 0)), WEFT_SEEN_GONE); // not reported yet
    s.reported = false;
    CHECK_INT(next(&s, seen_at(70, WEFT_IO_NONE, 0, 0)), WEFT_SEEN_NOTHING_NEW);
}

TEST(another_call_or_descriptor_is_another_wait) {
    struct weft_sightings s = {0};
    next(&s, seen_at(10, WEFT_IO_READ, 7, 0));
    CHECK_INT(next(&s, seen_at(20, WEFT_IO_READ, 8, 0)), WEFT_SEEN_NOTHING_NEW);
    CHECK_INT(next(&s, seen_at(30, WEFT_IO_WRITE, 8, 0)), WEFT_SEEN_NOTHING_NEW);
    CHECK_INT(next(&s, seen_at(40, WEFT_IO_WRITE, 8, 0)), WEFT_SEEN_WAITING);
    CHECK_INT(s.since, 30 * MILLISECOND);
    s.reported = true;
    CHECK_INT(next(&s, seen_at(50, WEFT_IO_WRITE, 9, 0)), WEFT_SEEN_GONE);
}

TEST(a_thread_that_computes_does_not_wait) {
    struct weft_sightings s = {0};
    next(&s, seen_at(10, WEFT_IO_READ, 7, 100));
    CHECK_INT(next(&s, seen_at(20, WEFT_IO_READ, 7, 102)), WEFT_SEEN_NOTHING_NEW); // 20 %
    CHECK_INT(next(&s, seen_at(30, WEFT_IO_READ, 7, 103)), WEFT_SEEN_WAITING);     // 10 %
    CHECK_INT(s.since, 20 * MILLISECOND);
    s.reported = true;
    CHECK_INT(next(&s, seen_at(40, WEFT_IO_READ, 7, 113)), WEFT_SEEN_GONE);
}

TEST(an_event_of_the_thread_ends_its_wait) {
    struct weft_sightings s = {0};
    next(&s, seen_at(10, WEFT_IO_READ, 7, 0));
    CHECK_INT(next(&s, seen_at(20, WEFT_IO_READ, 7, 0)), WEFT_SEEN_WAITING);
    s.reported = true;
    struct weft_sight later = seen_at(30, WEFT_IO_READ, 7, 0);
    later.written = 1;
    CHECK_INT(next(&s, later), WEFT_SEEN_NOTHING_NEW);
    CHECK_INT(s.since, 30 * MILLISECOND);
    later.time += MILLISECOND;
    CHECK_INT(next(&s, later), WEFT_SEEN_WAITING);
}

static void *read_once(void *ends) {
    char byte;
    CHECK_INT(read(((int *)ends)[0], &byte, 1), 1);
    return NULL;
}

// The thread of this process that is in read.
static bool find_reader(struct weft_system_call *call, int fd) {
    bool found = false;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) {
        return false;
    }
    for (struct dirent *task; !found && (task = readdir(tasks)) != NULL;) {
        char path[64];
        char line[256];
        snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", task->d_name);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = file < 0 ? -1 : read(file, line, sizeof line - 1);
        close(file);
        line[len < 0 ? 0 : len] = '\0';
        found = len > 0 && weft_system_call_parse(line, call) && call->number == SYS_read &&
                call->arguments[0] == (uint64_t)fd;
    }
    closedir(tasks);
    return found;
}

TEST(a_thread_that_reads_is_seen) {
    int ends[2];
    pthread_t thread;
    struct weft_system_call call;
    CHECK_INT(pipe(ends), 0);
    pthread_create(&thread, NULL, read_once, ends);
    while (!find_reader(&call, ends[0])) {
        sched_yield();
    }
    struct weft_io io = weft_system_call_io(&call, -1);
    CHECK_STRING(name(io.verb, io.of, true), "reading from a pipe");
    CHECK_INT(write(ends[1], "x", 1), 1);
    pthread_join(thread, NULL);
    CHECK(!find_reader(&call, ends[0]));
    close(ends[0]);
    close(ends[1]);
}

TEST(clocks_are_read_after_a_millisecond_of_running) {
    int64_t now = 1000 * (int64_t)MILLISECOND;
    struct weft_run run = {0};
    CHECK(weft_usage_runs(&run, now));
    CHECK(!weft_usage_waits(&run, now += MILLISECOND / 2));
    CHECK(!weft_usage_runs(&run, now += 4 * (int64_t)MILLISECOND)); // a short wait
    CHECK(!weft_usage_runs(&run, now += MILLISECOND / 4));          // an event
    CHECK(weft_usage_waits(&run, now += MILLISECOND / 4));
    CHECK(weft_usage_runs(&run, now += 5 * (int64_t)MILLISECOND)); // a long wait
    CHECK(!weft_usage_waits(&run, now += MILLISECOND - 1));
    CHECK(!weft_usage_waits(&run, now += MILLISECOND)); // it did not run meanwhile
}

TEST(own_clocks_are_read) {
    struct weft_usage before;
    struct weft_usage after;
    CHECK(weft_usage_own(&before));
    CHECK(before.queued >= 0);
    do {
        CHECK(weft_usage_own(&after));
    } while (after.cpu - before.cpu < MILLISECOND);
    CHECK(after.queued >= before.queued);
}

TEST(clocks_of_another_thread_are_read) {
    int own = open("/proc/thread-self/schedstat", O_RDONLY);
    struct weft_usage before;
    struct weft_usage used;
    CHECK(weft_usage_own(&before));
    CHECK(weft_usage_of((pid_t)syscall(SYS_gettid), own, &used));
    CHECK(used.cpu > before.cpu);
    CHECK(used.queued >= before.queued);
    close(own);
    CHECK(!weft_usage_of(INT32_MAX, -1, &used)); // there is none
}

int main(void) {
    open_sockets();
    RUN(lines_of_proc_are_parsed);
    RUN(only_calls_for_io_are_waits_for_it);
    RUN(a_poll_of_one_descriptor_is_for_what_it_waits);
    RUN(names_say_what_is_at_the_other_end);
    RUN(ids_are_few);
    RUN(two_looks_in_a_row_make_a_wait);
    RUN(another_call_or_descriptor_is_another_wait);
    RUN(a_thread_that_computes_does_not_wait);
    RUN(an_event_of_the_thread_ends_its_wait);
    RUN(a_thread_that_reads_is_seen);
    RUN(clocks_are_read_after_a_millisecond_of_running);
    RUN(own_clocks_are_read);
    RUN(clocks_of_another_thread_are_read);
    close(accepted);
    close(client);
    close(listener);
    return harness_end("calls");
}
