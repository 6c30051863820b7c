// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Options from the environment, for an agent that is started without a place for options:
// WEFT_OPTIONS=key=value,… and one variable for each option, such as WEFT_PARK_DEPTH. Other
// variables that begin with WEFT_ are of the collector's configurations.

#pragma once

#include <stdbool.h>

#include "options/options.h"

// Sets the options, starting with the defaults; the variable of an option comes before
// WEFT_OPTIONS. Empty variables count as missing. On an error, returns false and describes the
// variable and the remedy in one line.
bool weft_environment_parse(struct weft_options *options, char problem[WEFT_PROBLEM_MAX]);

// Whether at least one of these variables is set.
bool weft_environment_given(void);
