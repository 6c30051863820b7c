// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/client"

	"github.com/weft-otel/weft/internal/wire"
)

// maxHeaders limits the names and values of a hello's headers in bytes. A token of a service account has one or two thousand.
const maxHeaders = 64 << 10

// admit checks the headers of a hello. From then on the connection's context carries what the authenticator found, and the headers if
// configured, for all components that follow.
func (c *connection) admit(frame wire.Frame, headers wire.Headers) error {
	size := 0
	sources := make(map[string][]string, len(headers))
	for _, h := range headers {
		size += len(h.Key) + len(h.Value)
		key := strings.ToLower(h.Key)
		sources[key] = append(sources[key], h.Value)
	}
	if size > maxHeaders {
		return invalid(frame, fmt.Sprintf("headers take %d bytes, want at most %d", size, maxHeaders))
	}
	if c.sessions.Config.IncludeMetadata {
		info := client.FromContext(c.ctx)
		info.Metadata = client.NewMetadata(sources)
		c.ctx = client.NewContext(c.ctx, info)
	}
	if c.sessions.Auth == nil {
		return nil
	}
	ctx, err := c.authenticate(sources)
	if err != nil {
		return &denial{why: withoutSecrets(err, headers)}
	}
	c.ctx = ctx
	return nil
}

var errSlowAuthenticator = errors.New("the authenticator did not answer within hello_timeout")

// authenticate returns the authenticator's context, which ends with the connection.
func (c *connection) authenticate(sources map[string][]string) (context.Context, error) {
	asking, cancel := context.WithCancelCause(c.ctx)
	patience := time.AfterFunc(c.sessions.Config.HelloTimeout, func() { cancel(errSlowAuthenticator) })
	ctx, err := c.sessions.Auth.Authenticate(asking, sources)
	if !patience.Stop() {
		err = errors.Join(errSlowAuthenticator, err)
	}
	if err != nil {
		cancel(err)
	}
	return ctx, err
}

// denial is an authenticator's refusal. The agent does not get the reason, which could help to guess.
type denial struct{ why string }

func (*denial) Error() string { return "credentials are missing or invalid" }

// withoutSecrets is the text of an error without the values of the headers, or the words in them.
func withoutSecrets(err error, headers wire.Headers) string {
	const hidden = "[secret]"
	text := err.Error()
	for _, h := range headers {
		if h.Value != "" {
			text = strings.ReplaceAll(text, h.Value, hidden)
		}
		for word := range strings.FieldsSeq(h.Value) {
			if len(word) > len("Bearer") { // a shorter one is a scheme
				text = strings.ReplaceAll(text, word, hidden)
			}
		}
	}
	return text
}
