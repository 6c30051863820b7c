// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package attach

import (
	"context"
	"errors"
	"io"
)

var errLinux = errors.New("the agent supports Linux only; run this on the machine of the JVM")

func attach(context.Context, Request, bool) (Result, error) { return Result{}, errLinux }

func list(context.Context) ([]JVM, error) { return nil, errLinux }

func listen(context.Context, int) (*Meeting, error) { return nil, errLinux }

func createRecording(context.Context, int) (*Recording, error) { return nil, errLinux }

var errDumpOnLinux = errors.New("weft asks JVMs on Linux only; write dumps with jstack -l PID > dump1.txt, and read them with weft summary dump1.txt dump2.txt")

func canDump(int) error { return errDumpOnLinux }

func dump(context.Context, int, io.Writer) error { return errDumpOnLinux }

// PlatformOf returns the platform of a JVM.
func PlatformOf(int) (Platform, error) { return Platform{}, errLinux }
