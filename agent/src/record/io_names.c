// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/io_names.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/identity.h"

enum { OBJECT_MAX = 256, EPHEMERAL = 32768, SORTS = 64 };

static const char *const verbs[] = {
    [WEFT_IO_READ] = "reading from ",
    [WEFT_IO_WRITE] = "writing to ",
    [WEFT_IO_SYNC] = "syncing ",
    [WEFT_IO_CONNECT] = "connecting to ",
    [WEFT_IO_OPEN] = "opening ",
    [WEFT_IO_LOCK] = "locking ",
    [WEFT_IO_EXIT] = "waiting for ",
    [WEFT_IO_CLIENTS] = "waiting for clients",
    [WEFT_IO_EVENTS] = "waiting for the network",
};

static unsigned port_of(const struct sockaddr_storage *a) {
    return ntohs(a->ss_family == AF_INET ? ((const struct sockaddr_in *)a)->sin_port
                                         : ((const struct sockaddr_in6 *)a)->sin6_port);
}

// False if it is not an address of the network.
static bool format_address(const struct sockaddr_storage *a, char text[INET6_ADDRSTRLEN]) {
    if (a->ss_family == AF_INET) {
        return inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, text,
                         INET6_ADDRSTRLEN) != NULL;
    }
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)a)->sin6_addr;
    if (a->ss_family != AF_INET6) {
        return false;
    }
    if (IN6_IS_ADDR_V4MAPPED(in6)) {
        return inet_ntop(AF_INET, &in6->s6_addr[12], text, INET6_ADDRSTRLEN) != NULL;
    }
    return inet_ntop(AF_INET6, in6, text, INET6_ADDRSTRLEN) != NULL;
}

// Appends the peer's address. Without the port if that is the one of a client, which differs from
// connection to connection. False without an address.
static bool describe_peer(int fd, char object[OBJECT_MAX]) {
    struct sockaddr_storage peer = {0};
    struct sockaddr_storage here = {0};
    socklen_t peer_size = sizeof peer;
    socklen_t here_size = sizeof here;
    char address[INET6_ADDRSTRLEN];
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0 ||
        !format_address(&peer, address)) {
        return false;
    }
    bool client = getsockname(fd, (struct sockaddr *)&here, &here_size) == 0 &&
                  port_of(&peer) >= EPHEMERAL && port_of(&here) < EPHEMERAL;
    if (client) {
        snprintf(object, OBJECT_MAX, "%s", address);
    } else {
        bool brackets = strchr(address, ':') != NULL;
        snprintf(object, OBJECT_MAX, "%s%s%s:%u", brackets ? "[" : "", address, brackets ? "]" : "",
                 port_of(&peer));
    }
    return true;
}

// Reads the target of the descriptor's link in /proc. Nothing here asks a file system, which may be
// what the thread waits for.
static void target_of(int fd, char target[OBJECT_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, target, OBJECT_MAX - 1);
    target[len < 0 ? 0 : len] = '\0';
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

// The sort of what a link leads to; NULL if it is none that is read from or written to.
static const char *sort_of(const char *target) {
    static const struct {
        const char *prefix;
        const char *sort;
    } sorts[] = {
        {"socket:", "a socket"},    {"pipe:", "a pipe"},   {"/dev/pts/", "a terminal"},
        {"/dev/tty", "a terminal"}, {"/dev/", "a device"}, {"/", "a file"},
    };
    for (size_t i = 0; i < sizeof sorts / sizeof sorts[0]; i++) {
        if (begins(target, sorts[i].prefix)) {
            return sorts[i].sort;
        }
    }
    return NULL;
}

static bool describe_descriptor(int fd, bool exact, char object[OBJECT_MAX]) {
    static const char *const standard[] = {"standard input", "standard output", "standard error"};
    char target[OBJECT_MAX];
    target_of(fd, target);
    const char *sort = sort_of(target);
    if (fd < 0 || sort == NULL) {
        return false;
    }
    if (exact && begins(target, "socket:") && describe_peer(fd, object)) {
        return true;
    }
    const char *what = exact && target[0] == '/' ? target : sort;
    if (fd <= STDERR_FILENO) {
        snprintf(object, OBJECT_MAX, "%s (%.220s)", standard[fd], what);
    } else {
        snprintf(object, OBJECT_MAX, "%s", what);
    }
    return true;
}

bool weft_io_names_describe(const struct weft_io *io, bool exact, char name[WEFT_IO_NAME_MAX]) {
    char object[OBJECT_MAX] = "";
    switch (io->verb) {
    case WEFT_IO_READ:
    case WEFT_IO_WRITE:
    case WEFT_IO_SYNC:
    case WEFT_IO_LOCK:
        if (!describe_descriptor(io->of, exact, object)) {
            return false;
        }
        break;
    case WEFT_IO_CONNECT:
        snprintf(object, sizeof object, "a server");
        break;
    case WEFT_IO_OPEN:
        snprintf(object, sizeof object, "a file");
        break;
    case WEFT_IO_EXIT:
        if (exact && io->of > 0) {
            snprintf(object, sizeof object, "process %d to end", io->of);
        } else {
            snprintf(object, sizeof object, "a process to end");
        }
        break;
    case WEFT_IO_CLIENTS:
    case WEFT_IO_EVENTS:
        break;
    case WEFT_IO_NONE:
        return false;
    }
    snprintf(name, WEFT_IO_NAME_MAX, "%s%s", verbs[io->verb], object);
    return true;
}

static struct {
    uint32_t id;
    char *text;
} names[WEFT_IO_NAMES];
static size_t count;

static uint32_t find_or_define(const char *text, size_t most) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i].text, text) == 0) {
            return names[i].id;
        }
    }
    char *copy = count < most ? strdup(text) : NULL;
    uint32_t id = copy == NULL ? 0 : weft_identity_define(text);
    if (id == 0) {
        free(copy);
        return 0;
    }
    names[count].id = id;
    names[count++].text = copy;
    return id;
}

uint32_t weft_io_names_id(const struct weft_io *io, bool exact) {
    char name[WEFT_IO_NAME_MAX];
    if (!weft_io_names_describe(io, exact, name)) {
        return 0;
    }
    uint32_t id = find_or_define(name, exact ? WEFT_IO_NAMES - SORTS : WEFT_IO_NAMES);
    if (id == 0 && exact && weft_io_names_describe(io, false, name)) {
        id = find_or_define(name, WEFT_IO_NAMES);
    }
    return id;
}
