// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package origin

import (
	"context"
	"net"

	"go.opentelemetry.io/collector/client"

	"github.com/weft-otel/weft/internal/threadpdata"
)

// Sender is who sent a request, for comparison. Empty: not known, as after a queue or Kafka.
type Sender string

// thisProcess is a receiver in this process.
const thisProcess Sender = "this process"

// subjects are the names that authenticators give to who has authenticated: OpenID Connect, and names with passwords.
var subjects = [...]string{"subject", "username"}

// SenderOf returns who sent a request: the subject that has authenticated, or else the IP address. Programs with the same address are one
// sender. The port says nothing: a client may have several connections.
func SenderOf(ctx context.Context) Sender {
	if threadpdata.IsDirect(ctx) {
		return thisProcess
	}
	info := client.FromContext(ctx)
	if info.Auth != nil {
		for _, name := range subjects {
			if subject, ok := info.Auth.GetAttribute(name).(string); ok && subject != "" {
				return Sender(name + " " + subject)
			}
		}
	}
	switch addr := info.Addr.(type) {
	case *net.TCPAddr:
		return Sender("address " + addr.IP.String())
	case *net.IPAddr:
		return Sender("address " + addr.IP.String())
	default:
		return ""
	}
}
