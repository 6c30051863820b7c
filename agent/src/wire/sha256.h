// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// SHA-256 (FIPS 180-4) of short data.

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { WEFT_SHA256_SIZE = 32 };

void weft_sha256(const void *data, size_t len, uint8_t digest[WEFT_SHA256_SIZE]);
