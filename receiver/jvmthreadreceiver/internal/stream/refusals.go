// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"net"
	"os"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/wire"
)

// remedies of the refusals, by code. The messages of limits name the option.
func remedyOf(code wire.RefuseCode) string {
	switch code { //exhaustive:enforce
	case wire.RefuseVersion:
		return "Use an agent and a collector of the same version of Weft."
	case wire.RefuseUnauthorized:
		return "Update the agent; if another process claims its session, stop that one."
	case wire.RefuseLimit:
		return "Raise the limit in the configuration of the receiver, or connect fewer JVMs to this collector."
	case wire.RefuseShutdown:
		return "Wait until the collector is back: the agent connects again by itself."
	case wire.RefuseBadFrame:
	}
	return "Check that an agent connects there, not another program, with tls:// only if the receiver has protocols::stream::tls; then update the agent."
}

func (r *refusal) remedy() string {
	if r.message == defective {
		return remedyDefect
	}
	return remedyOf(r.code)
}

const (
	remedyCredentials     = "Set the agent's token-file or headers to what protocols::stream::auth accepts; the log of the collector has the reason."
	remedyPlain           = "Set the agent's endpoint to tls://host:port, and its ca-file."
	remedyHandshake       = "Check the agent's ca-file, cert-file and server-name, and the certificate of protocols::stream::tls."
	remedyDefect          = "Report the line in the log of the collector that says so. A restart of the collector, best with a newer version, lets the agent in again."
	remedyTooManyHalfOpen = "Find out who opens the connections, or raise protocols::stream::max_half_open."
)

// turnedAway reports on the page that the agent did not get in. The texts contain no credentials.
func (c *connection) turnedAway(reason, remedy string) {
	c.sessions.Entrance.Refuse(entrance.Refusal{
		At: time.Now(), Remote: c.remote, Service: c.service, PID: c.pid, Reason: reason, Remedy: remedy,
	})
}

// introduce keeps what a hello says about its JVM, in case it is refused.
func (c *connection) introduce(hello *wire.Hello) {
	c.pid = hello.PID
	if i := slices.IndexFunc(hello.Attributes, func(a wire.Attribute) bool { return a.Key == "service.name" }); i >= 0 {
		c.service = hello.Attributes[i].Value
	}
}

// describe returns the listener as the agent's option endpoint has it.
func (s *Server) describe() entrance.Door {
	settings := &s.sessions.Settings
	d := entrance.Door{TLS: s.tls != nil, Auth: settings.Auth != nil}
	switch address := s.listener.Addr().(type) {
	case *net.UnixAddr:
		d.Address = "unix://" + address.Name
	case *net.TCPAddr:
		d.Address = "tcp://" + address.String()
		if d.TLS {
			d.Address = "tls://" + address.String()
		}
		if address.IP.IsUnspecified() { // any of this machine's
			host, err := os.Hostname()
			if err != nil {
				host = "localhost"
			}
			d.Address = d.Address[:len("tcp://")] + net.JoinHostPort(host, portOf(address))
		}
	}
	return d
}

func portOf(address net.Addr) string {
	_, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return ""
	}
	return port
}
