// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/openssl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct weft_openssl functions;

static bool look_up(void *library) {
    struct weft_openssl found;
    void *address;
    // ISO C cannot convert a pointer to data into one to a function; POSIX says that the bits do.
#define LOOK_UP(result, name, parameters)                                                          \
    address = dlsym(library, #name);                                                               \
    if (address == NULL) {                                                                         \
        return false;                                                                              \
    }                                                                                              \
    memcpy(&found.name, &address, sizeof address);
    WEFT_OPENSSL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    functions = found;
    return true;
}

const struct weft_openssl *weft_openssl_load(char *problem, size_t size) {
    static const char *const names[] = {"libssl.so.3", "libssl.so.1.1"};
    static bool loaded;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !loaded; i++) {
        // Its names must not replace those of a library that the application brings.
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        // Never closed: it keeps state for each thread that used it.
        if (library != NULL && look_up(library)) {
            if (functions.OPENSSL_init_ssl(WEFT_OPENSSL_INIT, NULL) != 1) {
                snprintf(problem, size, "%s does not start; check its openssl.cnf", names[i]);
                return NULL;
            }
            loaded = true;
        }
    }
    if (!loaded) {
        snprintf(problem, size,
                 "tls:// needs OpenSSL, and neither libssl.so.3 nor libssl.so.1.1 can be loaded; "
                 "install it (package libssl3, openssl-libs), or connect to a collector on this "
                 "machine");
        return NULL;
    }
    return &functions;
}
