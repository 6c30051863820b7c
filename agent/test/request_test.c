// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how options come in a file, which takes the answer.

#include "options/request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static char path[64];
static char given[sizeof path + 16];
static char other[sizeof path + 8];
static struct weft_request request;
static char problem[WEFT_PROBLEM_MAX];

static int put(const char *text, size_t len) {
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(write(fd, text, len) == (ssize_t)len);
    return fd;
}

TEST(without_a_file) {
    CHECK(weft_request_take(&request, NULL, problem));
    CHECK(request.options == NULL);
    CHECK_INT(request.answer, -1);
    CHECK(weft_request_take(&request, "depth=3,service=request=x", problem));
    CHECK_STRING(request.options, "depth=3,service=request=x");
    CHECK_INT(request.answer, -1);
}

// Nothing of the credentials stays: neither the name nor the content.
TEST(a_file_is_read_and_removed) {
    struct stat st;
    int fd = put("headers=a=b,depth=3", 19);
    CHECK(weft_request_take(&request, given, problem));
    CHECK_STRING(request.options, "headers=a=b,depth=3");
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_size, 0);
    CHECK(write(request.answer, "ok", 2) == 2);
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_size, 2);
    close(request.answer);
    close(fd);
    close(put("", 0));
    CHECK(weft_request_take(&request, given, problem));
    CHECK_STRING(request.options, "");
    close(request.answer);
}

TEST(long_and_binary_ones_are_answered) {
    static char text[WEFT_REQUEST_MAX + 1];
    memset(text, 'x', sizeof text);
    close(put(text, WEFT_REQUEST_MAX - 1));
    CHECK(weft_request_take(&request, given, problem));
    CHECK_INT(strlen(request.options), WEFT_REQUEST_MAX - 1);
    close(request.answer);
    for (size_t more = 0; more < 2; more++) {
        close(put(text, WEFT_REQUEST_MAX + more));
        CHECK(!weft_request_take(&request, given, problem));
        CHECK(strstr(problem, ": cannot be read; want text of less than 16384 bytes") != NULL);
        CHECK(request.answer >= 0);
        close(request.answer);
    }
    close(put("a\0b", 3));
    CHECK(!weft_request_take(&request, given, problem));
    close(request.answer);
}

static void refused(const char *why) {
    char want[WEFT_PROBLEM_MAX];
    snprintf(want, sizeof want, "request %s: %s", path, why);
    CHECK(!weft_request_take(&request, given, problem));
    CHECK_STRING(problem, want);
    CHECK_INT(request.answer, -1);
}

TEST(files_of_others_stay_as_they_are) {
    struct stat st;
    unlink(path);
    refused("No such file or directory");
    int fd = put("depth=3", 7);
    for (unsigned bit = 1; bit <= S_IRWXG; bit <<= 1) {
        CHECK_INT(fchmod(fd, S_IRUSR | S_IWUSR | bit), 0);
        refused("others can reach the file");
    }
    CHECK_INT(fchmod(fd, S_IRUSR | S_IWUSR), 0);
    CHECK_INT(link(path, other), 0);
    refused("others can reach the file");
    unlink(path);
    CHECK_INT(symlink(other, path), 0);
    refused("Too many levels of symbolic links");
    unlink(path);
    CHECK_INT(rename(other, path), 0);
    if (geteuid() == 0 && fchown(fd, 4711, (gid_t)-1) == 0) {
        refused("others can reach the file");
    }
    CHECK_INT(fstat(fd, &st), 0);
    CHECK_INT(st.st_size, 7);
    close(fd);
    unlink(path);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/weft-request-test-%d", (int)getpid());
    snprintf(given, sizeof given, "request=%s", path);
    snprintf(other, sizeof other, "%s.other", path);
    RUN(without_a_file);
    RUN(a_file_is_read_and_removed);
    RUN(long_and_binary_ones_are_answered);
    RUN(files_of_others_stay_as_they_are);
    return harness_end("request");
}
