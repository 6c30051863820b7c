// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/system_call.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool weft_system_call_parse(const char *line, struct weft_system_call *call) {
    *call = (struct weft_system_call){.number = WEFT_RUNNABLE};
    if (strncmp(line, "running", strlen("running")) == 0) {
        return true;
    }
    uint64_t *a = call->arguments;
    return sscanf(line, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &call->number, &a[0], &a[1],
                  &a[2]) >= 1 &&
           call->number >= WEFT_OUTSIDE;
}

// The first argument of these is the descriptor. Those that a platform lacks are left out.
static const struct {
    int64_t number;
    enum weft_io_verb verb;
} of_descriptors[] = {
    {SYS_read, WEFT_IO_READ},           {SYS_pread64, WEFT_IO_READ},
    {SYS_readv, WEFT_IO_READ},          {SYS_preadv, WEFT_IO_READ},
    {SYS_recvfrom, WEFT_IO_READ},       {SYS_recvmsg, WEFT_IO_READ},
    {SYS_write, WEFT_IO_WRITE},         {SYS_pwrite64, WEFT_IO_WRITE},
    {SYS_writev, WEFT_IO_WRITE},        {SYS_pwritev, WEFT_IO_WRITE},
    {SYS_sendto, WEFT_IO_WRITE},        {SYS_sendmsg, WEFT_IO_WRITE},
    {SYS_sendfile, WEFT_IO_WRITE},      {SYS_fallocate, WEFT_IO_WRITE},
    {SYS_fsync, WEFT_IO_SYNC},          {SYS_fdatasync, WEFT_IO_SYNC},
    {SYS_connect, WEFT_IO_CONNECT},     {SYS_flock, WEFT_IO_LOCK},
    {SYS_accept, WEFT_IO_CLIENTS},      {SYS_accept4, WEFT_IO_CLIENTS},
    {SYS_epoll_pwait, WEFT_IO_EVENTS},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, WEFT_IO_EVENTS},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, WEFT_IO_EVENTS},
#endif
};

static bool is_listening(int fd) {
    int listens = 0;
    socklen_t size = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

static bool is_connected(int fd) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

static bool is_socket(int fd) {
    int type;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// A poll of one descriptor is how the JDK reads, writes, connects or accepts with a timeout.
static struct weft_io poll_of(const struct weft_system_call *call, int memory) {
    const struct weft_io several = {WEFT_IO_EVENTS, -1};
    const struct weft_io none = {WEFT_IO_NONE, -1};
    struct pollfd p;
    if (call->arguments[1] != 1) {
        return call->arguments[1] == 0 ? none : several; // it only sleeps
    }
    if (memory < 0 || pread(memory, &p, sizeof p, (off_t)call->arguments[0]) != sizeof p) {
        return several;
    }
    struct weft_io io = {(p.events & POLLIN) != 0 ? WEFT_IO_READ : WEFT_IO_WRITE, p.fd};
    if (io.verb == WEFT_IO_READ && is_listening(p.fd)) {
        io.verb = WEFT_IO_CLIENTS;
    } else if (io.verb == WEFT_IO_WRITE && is_socket(p.fd) && !is_connected(p.fd)) {
        io.verb = WEFT_IO_CONNECT;
    }
    return io;
}

static struct weft_io process_of(int64_t process) {
    return (struct weft_io){WEFT_IO_EXIT, process > 0 ? (int)process : -1};
}

struct weft_io weft_system_call_io(const struct weft_system_call *call, int memory) {
    const uint64_t *a = call->arguments;
    for (size_t i = 0; i < sizeof of_descriptors / sizeof of_descriptors[0]; i++) {
        if (of_descriptors[i].number == call->number) {
            return (struct weft_io){of_descriptors[i].verb, (int)a[0]};
        }
    }
    switch (call->number) {
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
        return poll_of(call, memory);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return (struct weft_io){a[0] == 0 ? WEFT_IO_NONE : WEFT_IO_EVENTS, -1};
#ifdef SYS_open
    case SYS_open:
#endif
    case SYS_openat:
        return (struct weft_io){WEFT_IO_OPEN, -1};
    case SYS_fcntl:
        return (struct weft_io){
            a[1] == F_SETLKW || a[1] == F_OFD_SETLKW ? WEFT_IO_LOCK : WEFT_IO_NONE, (int)a[0]};
    case SYS_wait4:
        return process_of((int32_t)a[0]);
    case SYS_waitid:
        return process_of(a[0] == P_PID ? (int32_t)a[1] : -1);
    default:
        return (struct weft_io){WEFT_IO_NONE, -1};
    }
}
