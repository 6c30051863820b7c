// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_SIZE = sizeof((struct sockaddr_un *)0)->sun_path };

static char runtime[PATH_SIZE]; // below the user's runtime directory; empty: there is none
static const char *paths[WEFT_PLACES] = {"/run/weft/weft.sock", "/tmp/weft.sock"};

void weft_places_look(void) {
    const char *directory = getenv("XDG_RUNTIME_DIR");
    int len =
        directory != NULL && directory[0] == '/'
            ? snprintf(runtime, sizeof runtime, "%s/weft.sock", directory)
            : snprintf(runtime, sizeof runtime, "/run/user/%u/weft.sock", (unsigned)geteuid());
    size_t next = 1;
    if (len > 0 && (size_t)len < sizeof runtime) {
        paths[next++] = runtime;
    }
    paths[next++] = "/tmp/weft.sock";
    for (; next < WEFT_PLACES; next++) {
        paths[next] = NULL;
    }
}

const char *weft_places_path(size_t index) {
    return index < WEFT_PLACES ? paths[index] : NULL;
}

void weft_places_describe(char *text, size_t size) {
    text[0] = '\0';
    for (size_t i = 0; weft_places_path(i) != NULL; i++) {
        size_t len = strlen(text);
        const char *separator = i == 0 ? "" : weft_places_path(i + 1) == NULL ? " or " : ", ";
        snprintf(text + len, size - len, "%sunix://%s", separator, weft_places_path(i));
    }
}
