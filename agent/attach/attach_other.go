// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package attach

import (
	"context"
	"errors"
)

func listen(context.Context, int) (*Meeting, error) { return nil, errors.New("the agent supports Linux only") }

func createRecording(context.Context, int) (*Recording, error) {
	return nil, errors.New("the agent supports Linux only")
}

func attach(context.Context, Request) (Result, error) {
	return Result{}, errors.New("the agent supports Linux only")
}
