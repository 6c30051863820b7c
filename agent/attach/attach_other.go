// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package attach

import (
	"context"
	"errors"
)

func attach(context.Context, Request) (Result, error) {
	return Result{}, errors.New("the agent supports Linux only")
}
