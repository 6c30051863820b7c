// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package refusal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/weft-otel/weft/internal/refusal"
)

func TestRemedies(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/var/lib/weft/exporter_otlp_grpc__traces", Err: syscall.ENOSPC}
	for want, errs := range map[string][]error{
		"make room on the disk of the sending_queue's storage, or replace it": {
			full, errors.Join(errors.New("another exporter"), fmt.Errorf("put: %w", full)), syscall.EIO, syscall.EROFS, syscall.EDQUOT,
		},
		"set block_on_overflow: true in the exporter's sending_queue": {errors.New("sending queue is full")},
		"the backend refuses this data; its reason is in the error":   {consumererror.NewPermanent(errors.New("invalid"))},
		"configure a sending_queue in the exporter":                   {errors.New("connection refused"), syscall.EAGAIN},
	} {
		for _, err := range errs {
			assert.Equal(t, want, refusal.Remedy(err), "%v", err)
		}
	}
}
