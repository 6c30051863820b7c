// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What was the agent told on the command line? See options.h.

#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "stacks.h"

static const size_t KIB = 1024;
static const size_t MIB = 1048576;
static const size_t GIB = 1073741824;

static const char *const known =
    "endpoint, service, depth, wait-depth, notify-depth, park, park-depth, unpark-depth, yield, "
    "pool, retain, definitions";

static bool take_text(const char *key, const char *value, char *to, size_t size, char *problem) {
    if (value[0] == '\0' || strlen(value) >= size) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": give 1 to %zu characters", key,
                 size - 1);
        return false;
    }
    memcpy(to, value, strlen(value) + 1);
    return true;
}

static bool take_depth(const char *key, const char *value, int *to, char *problem) {
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (value[0] == '\0' || *end != '\0' || errno != 0 || n < 0 || n > WEFT_MAX_DEPTH) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a number of frames; give 0 to %d", key, value,
                 WEFT_MAX_DEPTH);
        return false;
    }
    *to = (int)n;
    return true;
}

static bool take_switch(const char *key, const char *value, bool *to, char *problem) {
    *to = strcmp(value, "on") == 0;
    if (!*to && strcmp(value, "off") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": \"%.64s\" is neither on nor off", key,
                 value);
        return false;
    }
    return true;
}

static size_t unit_of(const char *suffix) {
    static const char *const suffixes[] = {"", "k", "m", "g", "K", "M", "G"};
    const size_t units[] = {1, KIB, MIB, GIB, KIB, MIB, GIB};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return units[i];
        }
    }
    return 0;
}

static bool take_bytes(const char *key, const char *value, size_t least, size_t *to,
                       char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    size_t unit = unit_of(end);
    bool number = value[0] >= '0' && value[0] <= '9' && errno == 0 && unit != 0;
    if (!number || n > GIB / unit || n * unit < least) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a size; give %zuk to 1g, such as 16m", key, value,
                 least / KIB);
        return false;
    }
    *to = (size_t)n * unit;
    return true;
}

static bool take(const char *key, const char *value, struct weft_options *o, char *problem) {
    if (strcmp(key, "endpoint") == 0) {
        if (!weft_endpoint_valid(value)) {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"endpoint\": \"%.128s\" is no endpoint; give unix:///path or "
                     "tcp://host:port",
                     value);
            return false;
        }
        return take_text(key, value, o->endpoint, sizeof o->endpoint, problem);
    }
    if (strcmp(key, "service") == 0) {
        return take_text(key, value, o->service, sizeof o->service, problem);
    }
    if (strcmp(key, "depth") == 0) {
        return take_depth(key, value, &o->depth, problem);
    }
    if (strcmp(key, "wait-depth") == 0) {
        return take_depth(key, value, &o->wait_depth, problem);
    }
    if (strcmp(key, "notify-depth") == 0) {
        return take_depth(key, value, &o->notify_depth, problem);
    }
    if (strcmp(key, "park") == 0) {
        return take_switch(key, value, &o->park, problem);
    }
    if (strcmp(key, "park-depth") == 0) {
        return take_depth(key, value, &o->park_depth, problem);
    }
    if (strcmp(key, "unpark-depth") == 0) {
        return take_depth(key, value, &o->unpark_depth, problem);
    }
    if (strcmp(key, "yield") == 0) {
        return take_switch(key, value, &o->yield, problem);
    }
    if (strcmp(key, "pool") == 0) {
        return take_bytes(key, value, 64 * KIB, &o->pool, problem);
    }
    if (strcmp(key, "retain") == 0) {
        return take_bytes(key, value, MIB, &o->retain, problem);
    }
    if (strcmp(key, "definitions") == 0) {
        return take_bytes(key, value, MIB, &o->definitions, problem);
    }
    snprintf(problem, WEFT_PROBLEM_MAX, "option \"%.64s\": unknown option; known are %s", key,
             known);
    return false;
}

static bool parse(char *text, struct weft_options *options, char *problem) {
    char *rest;
    for (char *pair = strtok_r(text, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '=');
        if (equals == NULL) {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"%.64s\": no value; write key=value, known keys are %s", pair, known);
            return false;
        }
        *equals = '\0';
        if (!take(pair, equals + 1, options, problem)) {
            return false;
        }
    }
    return true;
}

bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]) {
    *options = (struct weft_options){
        .endpoint = "unix:///tmp/weft.sock",
        .depth = 16,
        .wait_depth = 6,
        .notify_depth = 0,
        .park = true,
        .park_depth = 16,
        .unpark_depth = 0,
        .pool = 16 * MIB,
        .retain = 8 * MIB,
        .definitions = 64 * MIB,
    };
    char *copy = strdup(text == NULL ? "" : text);
    if (copy == NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX, "no memory for the options; give the JVM less heap");
        return false;
    }
    bool ok = parse(copy, options, problem);
    free(copy);
    return ok;
}
