// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package refusal answers: why does the next consumer not take data, and what helps? With a sending_queue, an exporter refuses only what does not
// get into the queue.
package refusal

import (
	"errors"
	"strings"
	"syscall"

	"go.opentelemetry.io/collector/consumer/consumererror"
)

// ByDisk reports whether the disk of a queue is the reason, which will take data once somebody has made room, or mounted it again.
func ByDisk(err error) bool {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Remedy says what helps.
func Remedy(err error) string {
	switch {
	case ByDisk(err):
		return "make room on the disk of the sending_queue's storage, or replace it"
	case strings.Contains(err.Error(), "sending queue is full"):
		return "set block_on_overflow: true in the exporter's sending_queue"
	case consumererror.IsPermanent(err):
		return "the backend refuses this data; its reason is in the error"
	}
	return "configure a sending_queue in the exporter"
}
