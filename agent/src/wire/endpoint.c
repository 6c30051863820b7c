// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char unix_scheme[] = "unix://";
static const char tcp_scheme[] = "tcp://";

static const char *after(const char *endpoint, const char *scheme) {
    size_t len = strlen(scheme);
    return strncmp(endpoint, scheme, len) == 0 ? endpoint + len : NULL;
}

// Splits host:port or [v6]:port. The port must be a number.
static bool split(const char *address, char *host, size_t host_size, const char **port) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address) {
        return false;
    }
    const char *start = address;
    size_t len = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']' && len > 2) {
        start++;
        len -= 2;
    } else if (memchr(address, ':', len) != NULL) {
        return false; // an IPv6 address needs its brackets
    }
    char *end;
    unsigned long number = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || number == 0 || number > 65535 ||
        len >= host_size) {
        return false;
    }
    memcpy(host, start, len);
    host[len] = '\0';
    *port = colon + 1;
    return true;
}

bool weft_endpoint_valid(const char *endpoint) {
    char host[256];
    const char *port;
    const char *path = after(endpoint, unix_scheme);
    if (path != NULL) {
        return path[0] == '/' && path[1] != '\0' &&
               strlen(path) < sizeof((struct sockaddr_un *)0)->sun_path;
    }
    const char *address = after(endpoint, tcp_scheme);
    return address != NULL && split(address, host, sizeof host, &port);
}

static int start_connect(int family, const struct sockaddr *address, socklen_t len,
                         bool *in_progress) {
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    if (family != AF_UNIX) {
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        // A dead machine does not answer; without this option it takes a quarter of an hour to
        // notice.
        unsigned patience_ms = WEFT_ENDPOINT_SILENCE_MS;
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
    }
    *in_progress = false;
    if (connect(fd, address, len) != 0) {
        if (errno != EINPROGRESS) {
            close(fd);
            return -1;
        }
        *in_progress = true;
    }
    return fd;
}

static int connect_unix(const char *path, bool *in_progress) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    return start_connect(AF_UNIX, (const struct sockaddr *)&address, sizeof address, in_progress);
}

static int connect_tcp(const char *address, bool *in_progress) {
    // Successive attempts take successive addresses of the host.
    static unsigned attempt;
    char host[256];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    if (!split(address, host, sizeof host, &port) || getaddrinfo(host, port, &hints, &list) != 0) {
        errno = ENODATA;
        return -1;
    }
    unsigned count = 0;
    for (struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        count++;
    }
    int fd = -1;
    for (unsigned i = 0; i < count && fd < 0; i++) {
        struct addrinfo *a = list;
        for (unsigned skip = attempt++ % count; skip > 0; skip--) {
            a = a->ai_next;
        }
        fd = start_connect(a->ai_family, a->ai_addr, a->ai_addrlen, in_progress);
    }
    int error = errno;
    freeaddrinfo(list);
    errno = error;
    return fd;
}

int weft_endpoint_connect(const char *endpoint, bool *in_progress) {
    const char *path = after(endpoint, unix_scheme);
    if (path != NULL) {
        return connect_unix(path, in_progress);
    }
    const char *address = after(endpoint, tcp_scheme);
    return address == NULL ? -1 : connect_tcp(address, in_progress);
}

void weft_endpoint_describe(const char *endpoint, bool connected, int trouble, char *line,
                            size_t size) {
    const char *why = "no answer yet";
    const char *remedy = "try again in a few seconds";
    if (connected) {
        snprintf(line, size, "connected to %s", endpoint);
        return;
    }
    switch (trouble) {
    case 0:
        break;
    case ENODATA:
        why = "unknown host";
        remedy = "check the host name";
        break;
    case ENOMSG:
        why = "the process listening there does not answer";
        remedy = "check that it is the jvm_thread receiver, without TLS";
        break;
    case EPROTO:
        why = "the process listening there closed the connection";
        remedy = "if it is the jvm_thread receiver, see its log";
        break;
    case EACCES:
        why = strerror(trouble);
        remedy =
            "run the collector as the user of this JVM, give its receiver a socket_mode, or use "
            "tcp://";
        break;
    default:
        why = strerror(trouble);
        remedy =
            "check that a collector listens there and that the JVM sees the same file system and "
            "network";
    }
    snprintf(line, size, "not connected to %s: %s; %s", endpoint, why, remedy);
}
