// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key[] = "request=";

static bool is_private(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           st.st_nlink == 1 && (st.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Reads all, and empties the file.
static bool read_all(int fd, char text[WEFT_REQUEST_MAX]) {
    size_t len = 0;
    ssize_t n = 1;
    while (n > 0 && len < WEFT_REQUEST_MAX) {
        n = pread(fd, text + len, WEFT_REQUEST_MAX - len, (off_t)len);
        len += n > 0 ? (size_t)n : 0;
    }
    text[len < WEFT_REQUEST_MAX ? len : 0] = '\0';
    return ftruncate(fd, 0) == 0 && n == 0 && strlen(text) == len;
}

bool weft_request_take(struct weft_request *r, const char *given, char problem[WEFT_PROBLEM_MAX]) {
    r->options = given;
    r->answer = -1;
    if (given == NULL || strncmp(given, key, sizeof key - 1) != 0) {
        return true;
    }
    const char *path = given + sizeof key - 1;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || !is_private(fd)) {
        snprintf(problem, WEFT_PROBLEM_MAX, "request %.256s: %s", path,
                 fd < 0 ? strerror(errno) : "others can reach the file");
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    unlink(path); // nothing stays if weft is killed
    r->answer = fd;
    r->options = r->text;
    if (!read_all(fd, r->text)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "request %.256s: cannot be read; want text of less than %d bytes", path,
                 WEFT_REQUEST_MAX);
        return false;
    }
    return true;
}
