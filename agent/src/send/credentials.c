// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/credentials.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/endpoint.h"

// Of a token in bytes: that of a service account has about one thousand.
enum { MAX_TOKEN = 16384 };

static const char authorization[] = "authorization";

// Names are compared in lower case. False if one is not a name of HTTP headers, or a value cannot
// be in one.
static bool normalize(struct weft_resource *headers) {
    for (uint16_t i = 0; i < headers->count; i++) {
        for (char *k = (char *)headers->list[i].key; *k != '\0'; k++) {
            if (!isalnum((unsigned char)*k) && strchr("!#$&'*+-.^_`|~", *k) == NULL) {
                return false;
            }
            *k = (char)tolower((unsigned char)*k);
        }
        for (const char *v = headers->list[i].value; *v != '\0'; v++) {
            if ((unsigned char)*v < ' ' || *v == 0x7F) {
                return false;
            }
        }
    }
    return true;
}

// Reads key=value pairs, which a character separates.
static bool take_headers(struct weft_resource *headers, const char *text, char separator) {
    char *list = strdup(text);
    for (char *c = list; c != NULL && *c != '\0'; c++) {
        if (*c == separator) {
            *c = ',';
        }
    }
    bool ok = list != NULL && weft_resource_add_list(headers, list) && normalize(headers);
    if (!ok) {
        weft_resource_free(headers);
    }
    free(list);
    return ok;
}

// A variable of OTLP's exporters: that for traces, or else the common one. NULL: neither.
static const char *variable(const char *name) {
    static const char *const prefixes[] = {"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s%s", prefixes[i], name);
        const char *value = getenv(full);
        if (value != NULL && value[0] != '\0') {
            return value;
        }
    }
    return NULL;
}

// The option, or else a copy of the variable; the environment may change. One copy of each is kept.
static const char *option_or(const char *option, const char *name, char **copy) {
    free(*copy);
    *copy = NULL;
    const char *value = option[0] == '\0' ? variable(name) : NULL;
    if (value != NULL) {
        *copy = strdup(value);
    }
    return *copy == NULL ? option : *copy;
}

static void take_environment(struct weft_credentials *c, const struct weft_options *options) {
    static char *copies[3];
    c->tls.ca_file = option_or(options->ca_file, "CERTIFICATE", &copies[0]);
    // A pair, of which the environment must not supply one half.
    if (options->cert_file[0] == '\0') {
        c->tls.cert_file = option_or("", "CLIENT_CERTIFICATE", &copies[1]);
        c->tls.key_file = option_or("", "CLIENT_KEY", &copies[2]);
    }
    const char *headers = options->headers[0] == '\0' ? variable("HEADERS") : NULL;
    if (headers != NULL && !take_headers(&c->headers, headers, ',')) {
        fprintf(stderr,
                "weft: ignoring OTEL_EXPORTER_OTLP_HEADERS: want key=value pairs separated by "
                "commas, special characters as %%XX\n");
    }
}

bool weft_credentials_init(struct weft_credentials *c, const struct weft_options *options,
                           char problem[WEFT_PROBLEM_MAX]) {
    char host[WEFT_HOST_MAX];
    weft_resource_free(&c->headers);
    c->token_file = options->token_file;
    c->tls = (struct weft_tls_config){.ca_file = options->ca_file,
                                      .cert_file = options->cert_file,
                                      .key_file = options->key_file,
                                      .server_name = options->server_name};
    if (options->headers[0] != '\0' && !take_headers(&c->headers, options->headers, '|')) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"headers\": want key=value pairs separated by |, special characters as "
                 "%%XX");
        return false;
    }
    // They are meant for a verified backend. Any process may listen at a socket.
    if (weft_endpoint_secure(options->endpoint, host)) {
        take_environment(c, options);
    }
    return true;
}

// Reads the file into "Bearer " and what it contains without white space around it. Returns why it
// cannot.
static const char *read_token(const char *file, char *value, size_t size) {
    static const char scheme[] = "Bearer ";
    struct stat about;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return strerror(errno);
    }
    char *token = value + sizeof scheme - 1;
    memcpy(value, scheme, sizeof scheme);
    size -= sizeof scheme;
    size_t len = 0;
    ssize_t n = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? 1 : -1;
    while (n > 0 && len < size) {
        n = read(fd, token + len, size - len);
        len += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (n != 0) {
        return n < 0 ? "it is not a file" : "it is too long";
    }
    size_t start = 0;
    while (len > 0 && isspace((unsigned char)token[len - 1])) {
        len--;
    }
    while (start < len && isspace((unsigned char)token[start])) {
        start++;
    }
    len -= start;
    memmove(token, token + start, len);
    token[len] = '\0';
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)token[i] <= ' ' || token[i] == 0x7F) {
            return "it has more than one word";
        }
    }
    return len == 0 ? "it is empty" : NULL;
}

int weft_credentials_headers(const struct weft_credentials *c,
                             struct weft_attribute list[WEFT_MAX_HEADERS],
                             char problem[WEFT_TLS_PROBLEM_MAX]) {
    static char value[MAX_TOKEN + 1 + sizeof "Bearer "]; // one more, to see that there is more
    int count = 0;
    bool token = c->token_file != NULL && c->token_file[0] != '\0';
    for (uint16_t i = 0; i < c->headers.count; i++) {
        if (!token || strcmp(c->headers.list[i].key, authorization) != 0) {
            list[count++] = c->headers.list[i];
        }
    }
    if (token) {
        const char *why = read_token(c->token_file, value, sizeof value);
        if (why != NULL) {
            snprintf(problem, WEFT_TLS_PROBLEM_MAX,
                     "token-file: cannot use %.256s: %s; give the JVM's user a readable file with "
                     "one token of up to %d bytes",
                     c->token_file, why, MAX_TOKEN);
            return -1;
        }
        list[count++] = (struct weft_attribute){authorization, value};
    }
    return count;
}
