// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package attach

import (
	"context"
	"errors"
)

var errLinux = errors.New("the agent supports Linux only; run this on the machine of the JVM")

func attach(context.Context, Request, bool) (Result, error) { return Result{}, errLinux }

func list(context.Context) ([]JVM, error) { return nil, errLinux }

func listen(context.Context, int) (*Meeting, error) { return nil, errLinux }

func createRecording(context.Context, int) (*Recording, error) { return nil, errLinux }

// PlatformOf returns the platform of a JVM.
func PlatformOf(int) (Platform, error) { return Platform{}, errLinux }
