// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/peer.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// For older headers: Linux 4.13.
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

enum { MAX_GROUPS = 256, ENTRY_SIZE = 8192, PID_BITS = 32 };

static const char *allowed_user = "";
static const char *allowed_group = "";

// The user and the process that were not trusted last, in one word.
static _Atomic uint64_t stranger;

void weft_peer_allow(const char *user, const char *group) {
    allowed_user = user;
    allowed_group = group;
}

// False if the text is not a number, or one that means "none".
static bool read_id(const char *text, uint32_t *id) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    *id = (uint32_t)n;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && n < UINT32_MAX;
}

static bool is_user(const char *name, uid_t uid) {
    char entry[ENTRY_SIZE];
    struct passwd user;
    struct passwd *found = NULL;
    uint32_t id;
    if (name[0] == '\0') {
        return false;
    }
    if (read_id(name, &id)) {
        return uid == id;
    }
    return getpwnam_r(name, &user, entry, sizeof entry, &found) == 0 && found != NULL &&
           found->pw_uid == uid;
}

static bool find_group(const char *name, gid_t *gid) {
    char entry[ENTRY_SIZE];
    struct group group;
    struct group *found = NULL;
    if (name[0] == '\0') {
        return false;
    }
    if (read_id(name, gid)) {
        return true;
    }
    if (getgrnam_r(name, &group, entry, sizeof entry, &found) != 0 || found == NULL) {
        return false;
    }
    *gid = found->gr_gid;
    return true;
}

// Whether the peer has the group as its own or as a supplementary one.
static bool is_in_group(int fd, gid_t own, gid_t wanted) {
    gid_t groups[MAX_GROUPS];
    socklen_t size = sizeof groups;
    if (own == wanted) {
        return true;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
        return false;
    }
    for (size_t i = 0; i < size / sizeof groups[0]; i++) {
        if (groups[i] == wanted) {
            return true;
        }
    }
    return false;
}

bool weft_peer_trusted(int fd) {
    // Of the process that called listen, at that time.
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof peer;
    gid_t group;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        peer = (struct ucred){.uid = (uid_t)-1, .gid = (gid_t)-1};
    }
    if (peer.uid != (uid_t)-1 &&
        (peer.uid == geteuid() || peer.uid == 0 || is_user(allowed_user, peer.uid) ||
         (find_group(allowed_group, &group) && is_in_group(fd, peer.gid, group)))) {
        return true;
    }
    atomic_store(&stranger, (uint64_t)(uint32_t)peer.pid << PID_BITS | peer.uid);
    return false;
}

void weft_peer_describe(char *why, size_t why_size, char *remedy, size_t remedy_size) {
    uint64_t who = atomic_load(&stranger);
    unsigned uid = (uint32_t)who;
    unsigned pid = (uint32_t)(who >> PID_BITS);
    char process[32] = ""; // 0: in another namespace
    if (pid != 0) {
        snprintf(process, sizeof process, " (process %u)", pid);
    }
    snprintf(why, why_size,
             "user %u%s listens there, neither root nor the user of this JVM (%u); nothing is sent",
             uid, process, (unsigned)geteuid());
    snprintf(remedy, remedy_size,
             "if that is the collector, set the agent's option peer-user=%u; otherwise stop it",
             uid);
}
