// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_SIZE = 32 };

static const char prefix[] = "WEFT_";
static const char all[] = "WEFT_OPTIONS";

static const char *value_of(const char *name) {
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

// The value of the variable for an option, NULL if there is none: WEFT_PARK_DEPTH for park-depth.
static const char *option_value(const char *key, char name[NAME_MAX_SIZE]) {
    snprintf(name, NAME_MAX_SIZE, "%s%s", prefix, key);
    for (char *c = name + sizeof prefix - 1; *c != '\0'; c++) {
        if (*c == '-') {
            *c = '_';
        } else if (*c >= 'a' && *c <= 'z') {
            *c = (char)(*c - 'a' + 'A');
        }
    }
    return value_of(name);
}

static void add_variable(const char *name, char problem[WEFT_PROBLEM_MAX]) {
    char what[WEFT_PROBLEM_MAX];
    memcpy(what, problem, sizeof what);
    snprintf(problem, WEFT_PROBLEM_MAX, "%s: %.*s", name, WEFT_PROBLEM_MAX - NAME_MAX_SIZE - 3,
             what);
}

bool weft_environment_parse(struct weft_options *options, char problem[WEFT_PROBLEM_MAX]) {
    char name[NAME_MAX_SIZE];
    const char *key;
    weft_options_default(options);
    if (!weft_options_change(value_of(all), WEFT_AT_START, options, problem)) {
        add_variable(all, problem);
        return false;
    }
    for (size_t i = 0; (key = weft_options_key(i)) != NULL; i++) {
        const char *value = option_value(key, name);
        if (value != NULL && !weft_options_set(key, value, WEFT_AT_START, options, problem)) {
            add_variable(name, problem);
            return false;
        }
    }
    return weft_options_check(options, problem);
}

bool weft_environment_given(void) {
    char name[NAME_MAX_SIZE];
    const char *key;
    bool given = value_of(all) != NULL;
    for (size_t i = 0; !given && (key = weft_options_key(i)) != NULL; i++) {
        given = option_value(key, name) != NULL;
    }
    return given;
}
