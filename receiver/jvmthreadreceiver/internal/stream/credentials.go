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
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
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
	var refused *refusal
	switch {
	case errors.Is(err, errTooManyHalfOpen):
		return err
	case errors.As(err, &refused):
		outlet.Count(c.sessions.Out.Telemetry.ReceiverJvmThreadConnectionsRefused, 1)
		return err
	case err != nil:
		return &denial{why: withoutSecrets(err, headers)}
	}
	c.ctx = ctx
	return nil
}

var errSlowAuthenticator = &refusal{wire.RefuseLimit, "the authenticator did not answer within hello_timeout; try again later"}

// authenticate returns the authenticator's context, which ends with the connection. An authenticator that does not answer within
// hello_timeout has not accepted the agent; one that does not even end with its context keeps the place that admission.ask gave, and no more.
func (c *connection) authenticate(sources map[string][]string) (context.Context, error) {
	all := c.sessions
	if err := all.admission.ask(c); err != nil {
		return nil, err
	}
	type answer struct {
		ctx context.Context //nolint:containedctx // on its way
		err error
	}
	answers := make(chan answer, 1)
	asking, cancel := context.WithCancelCause(c.ctx)
	patience := time.AfterFunc(all.Config.HelloTimeout, func() { cancel(errSlowAuthenticator) })
	go func() {
		defer all.admission.asked(c.peer)
		ctx, err := all.Auth.Authenticate(asking, sources)
		answers <- answer{ctx, err}
	}()
	select {
	case a := <-answers:
		if patience.Stop() {
			if a.err != nil {
				cancel(a.err)
			}
			return a.ctx, a.err
		}
		<-asking.Done()
	case <-asking.Done():
		patience.Stop()
	}
	return nil, context.Cause(asking)
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
