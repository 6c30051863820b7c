// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/endpoint.h"

static const size_t MIB = 1048576;

#define SECOND ((size_t)1000000000)
#define DAY    (SECOND * 3600 * 24)

#define AT(field) offsetof(struct weft_options, field)

static const char headers_key[] = "headers";

static const struct weft_option table[] = {
    {"endpoint", &WEFT_ENDPOINT, AT(endpoint), 1, WEFT_ENDPOINT_MAX, WEFT_AT_START},
    {"peer-user", &WEFT_TEXT, AT(peer_user), 1, WEFT_ACCOUNT_MAX, WEFT_AT_START},
    {"peer-group", &WEFT_TEXT, AT(peer_group), 1, WEFT_ACCOUNT_MAX, WEFT_AT_START},
    {"ca-file", &WEFT_TEXT, AT(ca_file), 1, WEFT_PATH_MAX, WEFT_AT_START},
    {"cert-file", &WEFT_TEXT, AT(cert_file), 1, WEFT_PATH_MAX, WEFT_AT_START},
    {"key-file", &WEFT_TEXT, AT(key_file), 1, WEFT_PATH_MAX, WEFT_AT_START},
    {"server-name", &WEFT_TEXT, AT(server_name), 1, WEFT_ENDPOINT_MAX, WEFT_AT_START},
    {"token-file", &WEFT_TEXT, AT(token_file), 1, WEFT_PATH_MAX, WEFT_AT_START},
    {headers_key, &WEFT_TEXT, AT(headers), 1, WEFT_HEADERS_MAX, WEFT_AT_START},
    {"file", &WEFT_FILE, AT(file), 1, WEFT_PATH_MAX, WEFT_AT_START},
    {"file-size", &WEFT_BYTES, AT(file_size), 1048576, 0, WEFT_AT_START},
    {"service", &WEFT_TEXT, AT(service), 1, WEFT_SERVICE_MAX, WEFT_AT_START},
    {"depth", &WEFT_DEPTH, AT(depth), 0, WEFT_MAX_DEPTH, WEFT_BY_CONTROL},
    {"wait-depth", &WEFT_DEPTH, AT(wait_depth), 0, WEFT_MAX_DEPTH, WEFT_BY_CONTROL},
    {"notify-depth", &WEFT_DEPTH, AT(notify_depth), 0, WEFT_MAX_DEPTH, WEFT_BY_CONTROL},
    {"park-depth", &WEFT_DEPTH, AT(park_depth), 0, WEFT_MAX_DEPTH, WEFT_BY_CONTROL},
    {"unpark-depth", &WEFT_DEPTH, AT(unpark_depth), 0, WEFT_MAX_DEPTH, WEFT_BY_CONTROL},
    {"monitor", &WEFT_SWITCH, AT(monitor), 0, 0, WEFT_BY_CONTROL},
    {"wait", &WEFT_SWITCH, AT(wait), 0, 0, WEFT_BY_CONTROL},
    {"notify", &WEFT_SWITCH, AT(notify), 0, 0, WEFT_BY_CONTROL},
    {"park", &WEFT_SWITCH, AT(park), 0, 0, WEFT_BY_CONTROL},
    {"sleep", &WEFT_SWITCH, AT(sleep), 0, 0, WEFT_BY_CONTROL},
    {"start", &WEFT_SWITCH, AT(start), 0, 0, WEFT_BY_CONTROL},
    {"interrupt", &WEFT_SWITCH, AT(interrupt), 0, 0, WEFT_BY_CONTROL},
    {"yield", &WEFT_SWITCH, AT(yield), 0, 0, WEFT_BY_CONTROL},
    {"mounts", &WEFT_SWITCH, AT(mounts), 0, 0, WEFT_BY_CONTROL},
    {"cpu", &WEFT_SWITCH, AT(cpu), 0, 0, WEFT_BY_CONTROL},
    {"owner-stacks", &WEFT_SWITCH, AT(owner_stacks), 0, 0, WEFT_BY_CONTROL},
    {"io", &WEFT_SWITCH, AT(io), 0, 0, WEFT_BY_CONTROL},
    {"io-names", &WEFT_SWITCH, AT(io_names), 0, 0, WEFT_BY_CONTROL},
    {"min-duration", &WEFT_DURATION, AT(min_duration), 0, 10 * SECOND, WEFT_BY_CONTROL},
    {"include-threads", &WEFT_TEXT, AT(include_threads), 0, WEFT_PATTERNS_MAX, WEFT_BY_CONTROL},
    {"exclude-threads", &WEFT_TEXT, AT(exclude_threads), 0, WEFT_PATTERNS_MAX, WEFT_BY_CONTROL},
    {"include-locks", &WEFT_TEXT, AT(include_locks), 0, WEFT_PATTERNS_MAX, WEFT_BY_CONTROL},
    {"exclude-locks", &WEFT_TEXT, AT(exclude_locks), 0, WEFT_PATTERNS_MAX, WEFT_BY_CONTROL},
    {"pause", &WEFT_SWITCH, AT(pause), 0, 0, WEFT_BY_CONTROL},
    {"mode", &WEFT_MODE, AT(aggregated), 0, 0, WEFT_BY_CONTROL},
    {"interval", &WEFT_INTERVAL, AT(interval), 0, 0, WEFT_BY_CONTROL},
    {"report", &WEFT_COMMAND, AT(report), 0, 0, WEFT_BY_CONTROL},
    {"snapshot", &WEFT_COMMAND, AT(snapshot), 0, 0, WEFT_BY_CONTROL},
    {"detach", &WEFT_COMMAND, AT(detach), 0, 0, WEFT_AT_ATTACH},
    {"status", &WEFT_COMMAND, AT(status), 0, 0, WEFT_AT_ATTACH},
    {"control", &WEFT_SWITCH, AT(control), 0, 0, WEFT_AT_ATTACH},
    {"virtual", &WEFT_EXTENT, AT(virtual), 0, 0, WEFT_AT_START},
    {"pool", &WEFT_BYTES, AT(pool), 65536, 0, WEFT_AT_START},
    {"retain", &WEFT_BYTES, AT(retain), 1048576, 0, WEFT_AT_START},
    {"definitions", &WEFT_BYTES, AT(definitions), 1048576, 0, WEFT_AT_START},
    {"exit-wait", &WEFT_DURATION, AT(exit_wait), 0, 60 * SECOND, WEFT_AT_START},
    {"give-up", &WEFT_DURATION, AT(give_up), 0, DAY, WEFT_AT_START},
    {"duration", &WEFT_DURATION, AT(duration), 0, DAY, WEFT_AT_START},
    {"series", &WEFT_COUNT, AT(series), 16, 65536, WEFT_AT_START},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

static const struct weft_option *find(const char *key) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(table[i].key, key) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

// Appends the keys that are allowed then.
static void add_known(enum weft_when when, char *problem) {
    const char *separator = " ";
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].latest >= when) {
            size_t len = strlen(problem);
            snprintf(problem + len, WEFT_PROBLEM_MAX - len, "%s%s", separator, table[i].key);
            separator = ", ";
        }
    }
}

// A running agent accepts its current values.
static bool is_as_given(const struct weft_option *option, const char *value,
                        const struct weft_options *options) {
    struct weft_options other = *options;
    char is[WEFT_VALUE_MAX] = "";
    char given[WEFT_VALUE_MAX] = "";
    char problem[WEFT_PROBLEM_MAX];
    if (option->type->show == NULL ||
        !option->type->take(option, value, (char *)&other + option->offset, problem)) {
        return false;
    }
    option->type->show((const char *)options + option->offset, is);
    option->type->show((const char *)&other + option->offset, given);
    return strcmp(is, given) == 0;
}

bool weft_options_set(const char *key, const char *value, enum weft_when when,
                      struct weft_options *options, char problem[WEFT_PROBLEM_MAX]) {
    const struct weft_option *option = find(key);
    if (option == NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%.64s\": unknown option; want one of", key);
        add_known(when, problem);
        return false;
    }
    if (option->latest >= when) {
        return option->type->take(option, value, (char *)options + option->offset, problem);
    }
    if (when == WEFT_BY_CONTROL) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": cannot be changed remotely; set it when %s the agent", key,
                 option->latest == WEFT_AT_START ? "starting" : "attaching");
        return false;
    }
    if (!is_as_given(option, value, options)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": cannot be changed while the agent runs; detach it first", key);
        return false;
    }
    return true;
}

static bool is_key(const char *text, size_t len) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strncmp(table[i].key, text, len) == 0 && table[i].key[len] == '\0') {
            return true;
        }
    }
    return false;
}

static bool take_pairs(char *text, enum weft_when when, struct weft_options *options,
                       char *problem) {
    char *rest;
    bool secret = false; // the pair may be the rest of a credential
    for (char *pair = strtok_r(text, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '=');
        size_t len = equals == NULL ? strlen(pair) : (size_t)(equals - pair);
        if (secret && (equals == NULL || !is_key(pair, len))) {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"%s\": no option follows the comma after it; in a value, write a "
                     "comma as %%2C",
                     headers_key);
            return false;
        }
        if (equals == NULL) {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"%.64s\": missing value; want key=value with one of the keys", pair);
            add_known(when, problem);
            return false;
        }
        *equals = '\0';
        secret = strcmp(pair, headers_key) == 0;
        if (!weft_options_set(pair, equals + 1, when, options, problem)) {
            return false;
        }
    }
    return true;
}

bool weft_options_change(const char *text, enum weft_when when, struct weft_options *options,
                         char problem[WEFT_PROBLEM_MAX]) {
    char *copy = strdup(text == NULL ? "" : text);
    if (copy == NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "no memory for the options; reduce the heap of the JVM");
        return false;
    }
    bool ok = take_pairs(copy, when, options, problem);
    free(copy);
    if (ok && options->status && text != NULL && strchr(text, ',') != NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"status\": it only reports; give it without other options");
        return false;
    }
    return ok;
}

void weft_options_default(struct weft_options *options) {
    *options = (struct weft_options){
        .depth = 32,
        .wait_depth = 16,
        .notify_depth = 4,
        .park_depth = 32,
        .unpark_depth = 16,
        .monitor = true,
        .wait = true,
        .notify = true,
        .park = true,
        .sleep = true,
        .start = true,
        .interrupt = true,
        .io = true,
        .virtual = WEFT_VIRTUAL_ON,
        .control = true,
        .interval = 10000000000,
        .series = 4096,
        .file_size = 256 * MIB,
        .pool = 16 * MIB,
        .retain = 8 * MIB,
        .definitions = 64 * MIB,
        .exit_wait = 500000000,
    };
}

// Whoever names files for TLS must not send without it.
bool weft_options_check(const struct weft_options *options, char problem[WEFT_PROBLEM_MAX]) {
    const struct {
        const char *key;
        const char *value;
    } given[] = {{"ca-file", options->ca_file},
                 {"cert-file", options->cert_file},
                 {"key-file", options->key_file},
                 {"server-name", options->server_name}};
    char host[WEFT_HOST_MAX];
    bool secure = weft_endpoint_secure(options->endpoint, host);
    for (size_t i = 0; i < sizeof given / sizeof given[0] && !secure; i++) {
        if (given[i].value[0] != '\0') {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"%s\": only for TLS; want endpoint=tls://host:port with it",
                     given[i].key);
            return false;
        }
    }
    if ((options->cert_file[0] == '\0') != (options->key_file[0] == '\0')) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\" is missing; set both cert-file and key-file, or neither",
                 options->cert_file[0] == '\0' ? "cert-file" : "key-file");
        return false;
    }
    return true;
}

bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]) {
    weft_options_default(options);
    return weft_options_change(text, WEFT_AT_START, options, problem) &&
           weft_options_check(options, problem);
}

const char *weft_options_key(size_t number) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].type != &WEFT_COMMAND && number-- == 0) {
            return table[i].key;
        }
    }
    return NULL;
}

void weft_options_show(const struct weft_options *options,
                       void (*put)(void *to, const char *key, const char *value), void *to) {
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct weft_option *option = &table[i];
        if (option->latest == WEFT_BY_CONTROL && option->type->show != NULL) {
            char text[WEFT_VALUE_MAX] = "";
            option->type->show((const char *)options + option->offset, text);
            put(to, option->key, text);
        }
    }
}
