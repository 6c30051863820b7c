// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the agent connects only to processes it may trust. Other users listen in processes of
// their own, which needs root: otherwise these tests are skipped.

#include "wire/peer.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "wire/endpoint.h"
#include "wire/places.h"

enum { SQUATTER = 4711, OTHER = 4712, GROUP = 4713, EXTRA_GROUP = 4714 };

static char directory[64];
static char endpoint[128];
static pid_t listener;

// Listens in a process of that user until hang_up.
static void listen_as(uid_t uid, gid_t gid, const char *path) {
    int ready[2];
    char byte = 0;
    CHECK(pipe(ready) == 0);
    unlink(path);
    listener = fork();
    if (listener == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
        gid_t extra = EXTRA_GROUP;
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (uid != geteuid() &&
            (setgroups(1, &extra) != 0 || setgid(gid) != 0 || setuid(uid) != 0)) {
            _exit(1);
        }
        if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
            chmod(path, 0666) != 0 || listen(fd, 8) != 0 || write(ready[1], "", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    close(ready[1]);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    snprintf(endpoint, sizeof endpoint, "unix://%s", path);
}

static void hang_up(void) {
    kill(listener, SIGKILL);
    waitpid(listener, NULL, 0);
}

static const char *in_directory(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

// 0, or why there is no connection.
static int outcome(const char *to) {
    bool in_progress;
    int fd = weft_endpoint_connect(to, &in_progress);
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0 ? 0 : error;
}

static int outcome_for(const char *user, const char *group) {
    weft_peer_allow(user, group);
    int result = outcome(endpoint);
    weft_peer_allow("", "");
    return result;
}

TEST(trusts_its_own_user) {
    listen_as(geteuid(), getegid(), in_directory("own"));
    CHECK_INT(outcome(endpoint), 0);
    hang_up();
    CHECK_INT(outcome(endpoint), ECONNREFUSED);
}

TEST(refuses_others) {
    char line[512];
    char expected[512];
    listen_as(SQUATTER, GROUP, in_directory("squatted"));
    CHECK_INT(outcome(endpoint), EKEYREJECTED);
    weft_endpoint_describe(endpoint, false, EKEYREJECTED, line, sizeof line);
    snprintf(expected, sizeof expected,
             "not connected to %s: user 4711 (process %d) listens there, neither root nor the user "
             "of this JVM (0); nothing is sent; if that is the collector, set the agent's option "
             "peer-user=4711; otherwise stop it",
             endpoint, (int)listener);
    CHECK_STRING(line, expected);
    hang_up();
}

TEST(trusts_whom_the_options_name) {
    listen_as(SQUATTER, GROUP, in_directory("named"));
    CHECK_INT(outcome_for("4711", ""), 0);
    CHECK_INT(outcome_for("", "4713"), 0);
    CHECK_INT(outcome_for("", "4714"), 0); // a supplementary one
    CHECK_INT(outcome_for("4712", "4715"), EKEYREJECTED);
    CHECK_INT(outcome_for("4711x", ""), EKEYREJECTED);
    CHECK_INT(outcome_for("-1", "-1"), EKEYREJECTED);
    CHECK_INT(outcome_for("4294967295", "4294967295"), EKEYREJECTED);
    CHECK_INT(outcome_for("no such user", "no such group"), EKEYREJECTED);
    CHECK_INT(outcome_for("root", ""), EKEYREJECTED);
    hang_up();
    listen_as(1, 1, in_directory("daemon"));
    CHECK_INT(outcome_for("daemon", ""), 0);
    CHECK_INT(outcome_for("", "daemon"), 0);
    hang_up();
}

// As another user than root: trusts root and itself only.
TEST(is_trusted_as_root) {
    static const struct {
        uid_t listens;
        int want;
    } cases[] = {{0, 0}, {SQUATTER, EKEYREJECTED}, {OTHER, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = -1;
        listen_as(cases[i].listens, GROUP, in_directory("mixed"));
        pid_t child = fork();
        if (child == 0) {
            _exit(setgid(GROUP) != 0 || setuid(OTHER) != 0 || outcome(endpoint) != cases[i].want);
        }
        waitpid(child, &status, 0);
        CHECK_INT(status, 0);
        hang_up();
    }
}

// The places in order, with what the environment says; then the first that may be trusted.
TEST(tries_the_default_places) {
    char line[512];
    char expected[256];
    unsetenv("XDG_RUNTIME_DIR");
    weft_places_look();
    weft_places_describe(line, sizeof line);
    snprintf(expected, sizeof expected,
             "unix:///run/weft/weft.sock, unix:///run/user/%u/weft.sock or unix:///tmp/weft.sock",
             (unsigned)geteuid());
    CHECK_STRING(line, expected);
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    weft_places_look();
    weft_places_describe(line, sizeof line);
    CHECK_STRING(line, expected);
    setenv("XDG_RUNTIME_DIR", directory, 1);
    weft_places_look();
    CHECK_STRING(weft_places_path(1), in_directory("weft.sock"));
    if (access("/run/weft/weft.sock", F_OK) == 0 || access("/tmp/weft.sock", F_OK) == 0) {
        fprintf(stderr, "     skipped: a collector uses the default sockets\n");
        return;
    }
    CHECK_INT(outcome(""), ENOENT);
    listen_as(geteuid(), getegid(), in_directory("weft.sock"));
    CHECK_INT(outcome(""), 0);
    weft_endpoint_describe("", true, 0, line, sizeof line);
    snprintf(expected, sizeof expected, "connected to unix://%s", in_directory("weft.sock"));
    CHECK_STRING(line, expected);
    hang_up();
    CHECK_INT(outcome(""), ECONNREFUSED);
}

int main(void) {
    alarm(300);
    snprintf(directory, sizeof directory, "/tmp/weft-peer-test-%d", (int)getpid());
    CHECK(mkdir(directory, 0777) == 0 && chmod(directory, 0777) == 0);
    RUN(trusts_its_own_user);
    RUN(tries_the_default_places);
    if (geteuid() == 0) {
        RUN(refuses_others);
        RUN(trusts_whom_the_options_name);
        RUN(is_trusted_as_root);
    } else {
        fprintf(stderr, "     skipped: other users' sockets need root\n");
    }
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    CHECK(system(command) == 0);
    return harness_end("peer");
}
