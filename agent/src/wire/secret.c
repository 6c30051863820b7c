// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/secret.h"

#include <linux/random.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire/clock.h"
#include "wire/sha256.h"

// For a kernel without getrandom, or whose pool is not ready: the kernel gives each program 16
// random bytes at its start, which never leave it.
static void draw_from_start(uint8_t secret[WEFT_SECRET_SIZE]) {
    struct {
        uint8_t start[WEFT_SECRET_SIZE];
        struct weft_moment now;
        uint64_t draws;
        uint64_t pid;
    } seed;
    static uint64_t draws;
    memset(&seed, 0, sizeof seed);
    const void *start = (const void *)getauxval(AT_RANDOM); // NOLINT(performance-no-int-to-ptr)
    if (start != NULL) {
        memcpy(seed.start, start, sizeof seed.start);
    }
    seed.now = weft_clock_moment();
    seed.draws = ++draws;
    seed.pid = (uint64_t)getpid();
    uint8_t digest[WEFT_SHA256_SIZE];
    weft_sha256(&seed, sizeof seed, digest);
    memcpy(secret, digest, WEFT_SECRET_SIZE);
}

void weft_secret_session(const uint8_t secret[WEFT_SECRET_SIZE],
                         uint8_t session[WEFT_SESSION_SIZE]) {
    static const char domain[] = "weft session"; // with its terminating zero
    uint8_t data[sizeof domain + WEFT_SECRET_SIZE];
    uint8_t digest[WEFT_SHA256_SIZE];
    memcpy(data, domain, sizeof domain);
    memcpy(data + sizeof domain, secret, WEFT_SECRET_SIZE);
    weft_sha256(data, sizeof data, digest);
    memcpy(session, digest, WEFT_SESSION_SIZE);
}

void weft_secret_draw(uint8_t secret[WEFT_SECRET_SIZE], uint8_t session[WEFT_SESSION_SIZE]) {
    do {
        // The system call, because getrandom needs glibc 2.25.
        if (syscall(SYS_getrandom, secret, WEFT_SECRET_SIZE, GRND_NONBLOCK) != WEFT_SECRET_SIZE) {
            draw_from_start(secret);
        }
        weft_secret_session(secret, session);
    } while (session[0] == 0); // such an ID is not valid
}
