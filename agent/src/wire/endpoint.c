// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/peer.h"
#include "wire/places.h"

static const char unix_scheme[] = "unix://";
static const char tcp_scheme[] = "tcp://";
static const char tls_scheme[] = "tls://";

static const char *after(const char *endpoint, const char *scheme) {
    size_t len = strlen(scheme);
    return strncmp(endpoint, scheme, len) == 0 ? endpoint + len : NULL;
}

// What follows tcp:// or tls://.
static const char *after_network(const char *endpoint) {
    const char *address = after(endpoint, tcp_scheme);
    return address != NULL ? address : after(endpoint, tls_scheme);
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
    char host[WEFT_HOST_MAX];
    const char *port;
    const char *path = after(endpoint, unix_scheme);
    if (path != NULL) {
        return path[0] == '/' && path[1] != '\0' &&
               strlen(path) < sizeof((struct sockaddr_un *)0)->sun_path;
    }
    const char *address = after_network(endpoint);
    return address != NULL && split(address, host, sizeof host, &port);
}

bool weft_endpoint_secure(const char *endpoint, char host[WEFT_HOST_MAX]) {
    const char *port;
    const char *address = after(endpoint, tls_scheme);
    return address != NULL && split(address, host, WEFT_HOST_MAX, &port);
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
    int fd = start_connect(AF_UNIX, (const struct sockaddr *)&address, sizeof address, in_progress);
    if (fd >= 0 && !weft_peer_trusted(fd)) {
        close(fd);
        errno = EKEYREJECTED;
        return -1;
    }
    return fd;
}

// The default place that is connected.
static _Atomic(const char *) connected_place;

// Of several failures, the one that the user can do most about.
static int worse(int one, int other) {
    return one == 0 || one == ENOENT || other == EKEYREJECTED ? other : one;
}

static int connect_default(bool *in_progress) {
    int trouble = 0;
    const char *path;
    for (size_t i = 0; (path = weft_places_path(i)) != NULL; i++) {
        int fd = connect_unix(path, in_progress);
        if (fd >= 0) {
            atomic_store(&connected_place, path);
            return fd;
        }
        trouble = worse(trouble, errno);
    }
    errno = trouble;
    return -1;
}

static int connect_tcp(const char *address, bool *in_progress) {
    // Successive attempts take successive addresses of the host.
    static unsigned attempt;
    char host[WEFT_HOST_MAX];
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
    int error = EAFNOSUPPORT; // unless another address says more
    for (unsigned i = 0; i < count && fd < 0; i++) {
        struct addrinfo *a = list;
        for (unsigned skip = attempt++ % count; skip > 0; skip--) {
            a = a->ai_next;
        }
        fd = start_connect(a->ai_family, a->ai_addr, a->ai_addrlen, in_progress);
        error = error == EAFNOSUPPORT ? errno : error;
    }
    freeaddrinfo(list);
    errno = error;
    return fd;
}

int weft_endpoint_connect(const char *endpoint, bool *in_progress) {
    if (endpoint[0] == '\0') {
        return connect_default(in_progress);
    }
    const char *path = after(endpoint, unix_scheme);
    if (path != NULL) {
        return connect_unix(path, in_progress);
    }
    const char *address = after_network(endpoint);
    return address == NULL ? -1 : connect_tcp(address, in_progress);
}

int weft_endpoint_progress(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;
    if (poll(&p, 1, 0) == 0) {
        return EINPROGRESS;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

void weft_endpoint_describe(const char *endpoint, bool connected, int trouble, char *line,
                            size_t size) {
    const char *why = "no answer yet";
    const char *remedy = "try again in a few seconds";
    char places[512];
    char who[160];
    char other[160];
    bool anywhere = endpoint[0] == '\0';
    if (connected) {
        const char *place = atomic_load(&connected_place);
        snprintf(line, size, "connected to %s%s", anywhere ? unix_scheme : "",
                 anywhere && place != NULL ? place : endpoint);
        return;
    }
    if (anywhere) {
        weft_places_describe(places, sizeof places);
        endpoint = places;
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
        remedy = after(endpoint, tls_scheme) != NULL
                     ? "check that it is the jvm_thread receiver, with TLS"
                     : "check that it is the jvm_thread receiver; if it requires TLS, use tls://";
        break;
    case EPROTO:
        why = "the process listening there closed the connection";
        remedy = "if it is the jvm_thread receiver, see its log";
        break;
    case EKEYREJECTED:
        weft_peer_describe(who, sizeof who, other, sizeof other);
        why = who;
        remedy = other;
        break;
    case EACCES:
        why = strerror(trouble);
        remedy =
            "run the collector as the user of this JVM, give its receiver a socket_mode, or use "
            "tcp://";
        break;
    case EPERM:
    case ENOSYS:
    case EAFNOSUPPORT:
        why = strerror(trouble);
        remedy = "a filter of system calls (seccomp) or of packets forbids it: allow it, or use "
                 "another endpoint";
        break;
    default:
        why = strerror(trouble);
        remedy =
            "check that a collector listens there and that the JVM sees the same file system and "
            "network";
    }
    snprintf(line, size, "not connected to %s: %s; %s", endpoint, why, remedy);
}
