// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/resource.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void weft_resource_add(struct weft_resource *r, const char *key, const char *value) {
    if (key == NULL || value == NULL || key[0] == '\0' || value[0] == '\0' ||
        r->count == WEFT_MAX_ATTRIBUTES) {
        return;
    }
    for (uint16_t i = 0; i < r->count; i++) {
        if (strcmp(r->list[i].key, key) == 0) {
            return;
        }
    }
    char *k = strdup(key);
    char *v = strdup(value);
    if (k == NULL || v == NULL) {
        free(k);
        free(v);
        return;
    }
    r->list[r->count++] = (struct weft_attribute){k, v};
}

static int hex(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Trims blanks and decodes percent signs in place. NULL on invalid percent encoding.
static char *decode(char *s) {
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    size_t len = strlen(s);
    while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t')) {
        s[--len] = '\0';
    }
    char *out = s;
    for (const char *in = s; *in != '\0'; out++) {
        if (*in != '%') {
            *out = *in++;
            continue;
        }
        int high = hex(in[1]);
        int low = high < 0 ? -1 : hex(in[2]);
        if (low < 0 || (high == 0 && low == 0)) {
            return NULL;
        }
        *out = (char)(high << 4 | low);
        in += 3;
    }
    *out = '\0';
    return s;
}

static bool add_list(struct weft_resource *r, char *list) {
    char *rest;
    for (char *pair = strtok_r(list, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '=');
        if (equals == NULL) {
            return false;
        }
        *equals = '\0';
        char *key = decode(pair);
        char *value = decode(equals + 1);
        if (key == NULL || key[0] == '\0' || value == NULL) {
            return false;
        }
        weft_resource_add(r, key, value);
    }
    return true;
}

bool weft_resource_add_list(struct weft_resource *r, const char *list) {
    struct weft_resource added = {0};
    char *copy = strdup(list);
    bool ok = copy != NULL && add_list(&added, copy);
    for (uint16_t i = 0; ok && i < added.count; i++) {
        weft_resource_add(r, added.list[i].key, added.list[i].value);
    }
    weft_resource_free(&added);
    free(copy);
    return ok;
}

static const char *architecture(const char *machine) {
    static const char *const names[][2] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"i686", "x86"},
        {"armv7l", "arm32"}, {"ppc64le", "ppc64"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(machine, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return machine;
}

void weft_resource_add_process(struct weft_resource *r, const char *property) {
    struct utsname machine;
    weft_resource_add(r, "service.name", getenv("OTEL_SERVICE_NAME"));
    const char *list = property != NULL ? property : getenv("OTEL_RESOURCE_ATTRIBUTES");
    if (list != NULL && !weft_resource_add_list(r, list)) {
        fprintf(stderr,
                "weft: ignoring %s: want key=value pairs separated by commas, special characters "
                "as %%XX\n",
                property != NULL ? "otel.resource.attributes" : "OTEL_RESOURCE_ATTRIBUTES");
    }
    if (uname(&machine) == 0) {
        weft_resource_add(r, "host.name", machine.nodename);
        weft_resource_add(r, "host.arch", architecture(machine.machine));
        for (char *c = machine.sysname; *c != '\0'; c++) {
            *c = (char)tolower((unsigned char)*c);
        }
        weft_resource_add(r, "os.type", machine.sysname);
    }
}

void weft_resource_add_command(struct weft_resource *r, const char *command) {
    char *word = strdup(command == NULL ? "" : command);
    if (word == NULL) {
        return;
    }
    word[strcspn(word, " ")] = '\0';
    weft_resource_add(r, "process.command", word);
    // module/main.Class, /path/to/name.jar, main.Class
    char *name = strrchr(word, '/');
    name = name == NULL ? word : name + 1;
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".jar") == 0) {
        name[len - 4] = '\0';
    }
    weft_resource_add(r, "service.name", name);
    weft_resource_add(r, "service.name", "unknown_service:java");
    free(word);
}

const char *weft_resource_session(const uint8_t id[16], char text[WEFT_SESSION_TEXT]) {
    for (size_t i = 0; 2 * i + 1 < WEFT_SESSION_TEXT; i++) {
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    }
    return text;
}

void weft_resource_add_session(struct weft_resource *r, const uint8_t id[16]) {
    char text[WEFT_SESSION_TEXT];
    weft_resource_add(r, "service.instance.id", weft_resource_session(id, text));
}

bool weft_resource_replace(struct weft_resource *r, const char *key, const char *value) {
    char *copy = strdup(value);
    for (uint16_t i = 0; copy != NULL && i < r->count; i++) {
        if (strcmp(r->list[i].key, key) == 0) {
            free((char *)r->list[i].value);
            r->list[i].value = copy;
            return true;
        }
    }
    free(copy);
    return false;
}

void weft_resource_free(struct weft_resource *r) {
    for (uint16_t i = 0; i < r->count; i++) {
        free((char *)r->list[i].key);
        free((char *)r->list[i].value);
    }
    r->count = 0;
}
