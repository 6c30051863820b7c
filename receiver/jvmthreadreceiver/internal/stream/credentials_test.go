// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensionauth"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadatatest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// helloWith opens the session with headers.
func helloWith(headers string) string {
	return strings.TrimSuffix(hello, "\n") + " headers " + headers + "\n"
}

// user is what the authenticator of these tests finds.
type user string

func (u user) GetAttribute(name string) any {
	if name == "name" {
		return string(u)
	}
	return nil
}

func (user) GetAttributeNames() []string { return []string{"name"} }

// checkToken accepts one token. Like many authenticators it is careless with its error.
var checkToken = extensionauth.ServerAuthenticateFunc(func(ctx context.Context, sources map[string][]string) (context.Context, error) {
	if got := strings.Join(sources["authorization"], "|"); got != "Bearer right" {
		return ctx, fmt.Errorf("token %q is not known", got)
	}
	info := client.FromContext(ctx)
	info.Auth = user("alice")
	return client.NewContext(ctx, info), nil
})

func TestCredentialsReachTheNextComponents(t *testing.T) {
	for _, test := range []struct {
		include bool
		tenant  []string
	}{{false, nil}, {true, []string{"a", "b"}}} {
		next := outlettest.NewSink()
		infos := make(chan client.Info, 1)
		next.Answer = func(ctx context.Context, _ ptrace.Traces) error {
			infos <- client.FromContext(ctx)
			return nil
		}
		r := startWith(t, Settings{Out: outlettest.New(t, nil, next), Auth: checkToken}, func(c *Config) { c.IncludeMetadata = test.include })
		a := dial(t, r)
		a.greet(helloWith(`"Authorization"="Bearer right" "x-tenant"="a" "X-Tenant"="b"`))
		a.send("batch sequence=1 watermark=5")
		assert.EqualValues(t, 1, a.acked())
		info := <-infos
		require.NotNil(t, info.Auth)
		assert.Equal(t, "alice", info.Auth.GetAttribute("name"))
		assert.NotNil(t, info.Addr)
		assert.Equal(t, test.tenant, info.Metadata.Get("X-Tenant"))
	}
}

func TestAgentsWithoutValidCredentialsAreRefused(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	next := outlettest.NewSink()
	out := outlettest.New(t, tel, next)
	core, logs := observer.New(zap.DebugLevel)
	out.Log = zap.New(core)
	r := startWith(t, Settings{Out: out, Auth: checkToken}, nil)
	for _, text := range []string{
		hello,
		helloWith(`"authorization"="Bearer hunter2-hunter2"`),
		helloWith(`"authorization"="hunter2-hunter2"`),
		helloWith(`"authorization"="Bearer right" "Authorization"="Bearer hunter2-hunter2"`),
		helloWith(`"cookie"="hunter2-hunter2"`),
	} {
		a := dial(t, r)
		a.send(text + "batch sequence=1 watermark=5\n")
		refuse := a.refused()
		assert.Equal(t, wire.Refuse{Code: wire.RefuseUnauthorized, Message: "credentials are missing or invalid"}, refuse)
	}
	r.stop()
	assert.Empty(t, next.Got, "nothing they sent is delivered")
	assert.Len(t, logs.FilterMessage("Refused an agent that protocols::stream::auth does not accept").All(), 5)
	for _, entry := range logs.All() {
		assert.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), "hunter2")
	}
	metadatatest.AssertEqualReceiverJvmThreadConnectionsRefused(t, tel, []metricdata.DataPoint[int64]{{Value: 5}}, metricdatatest.IgnoreTimestamp())
}

func TestTooManyHeadersAreRefused(t *testing.T) {
	r := start(t, outlettest.New(t, nil, outlettest.NewSink()), nil)
	a := dial(t, r)
	a.send(helloWith(`"a"="` + strings.Repeat("x", 60000) + `" "b"="` + strings.Repeat("x", 60000) + `"`))
	refuse := a.refused()
	assert.Equal(t, wire.RefuseBadFrame, refuse.Code)
	assert.Contains(t, refuse.Message, "headers take 120002 bytes, want at most 65536")
}

// An authenticator that asks a server may never answer, and not even look at its context.
func TestAuthenticatorHasATimeLimit(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, end chan struct{}){
		"until its context ends": func(ctx context.Context, _ chan struct{}) { <-ctx.Done() },
		"endlessly":              func(_ context.Context, end chan struct{}) { <-end },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				slow := extensionauth.ServerAuthenticateFunc(func(ctx context.Context, _ map[string][]string) (context.Context, error) {
					wait(ctx, end)
					return ctx, nil
				})
				next := outlettest.NewSink()
				out := outlettest.New(t, nil, next)
				core, logs := observer.New(zap.WarnLevel)
				out.Log = zap.New(core)
				r, pipes := startWithPipesAnd(t, Settings{Out: out, Auth: slow}, nil)
				begin := time.Now()
				a := pipes.dial(t)
				a.send(hello)
				want := wire.Refuse{Code: wire.RefuseLimit, Message: "the authenticator did not answer within hello_timeout; try again later"}
				refuse, err := a.next(wire.FrameRefuse).Refuse()
				require.NoError(t, err)
				assert.Equal(t, want, refuse)
				assert.Equal(t, DefaultConfig().HelloTimeout, time.Since(begin))
				r.stop()
				require.Len(t, logs.All(), 1)
				assert.Equal(t, want.Message, logs.All()[0].ContextMap()["reason"])
				close(end)
				synctest.Wait()
				assert.Zero(t, r.sessions.admission.asking)
				assert.Empty(t, r.sessions.admission.peers)
				assert.Empty(t, next.Got)
			})
		})
	}
}

// gate is an authenticator that answers when it is opened.
type gate struct {
	asked, opened chan struct{}
}

func (g gate) Authenticate(ctx context.Context, sources map[string][]string) (context.Context, error) {
	g.asked <- struct{}{}
	select {
	case <-g.opened:
		return checkToken(ctx, sources)
	case <-ctx.Done():
		return ctx, context.Cause(ctx)
	}
}

// While the authenticator is slow, others cannot push out those who wait for it, nor can those with invalid credentials take all places.
func TestSlowAuthenticatorDoesNotLockOut(t *testing.T) {
	g := gate{make(chan struct{}, 100), make(chan struct{})}
	r := startWith(t, Settings{Out: outlettest.New(t, nil, outlettest.NewSink()), Auth: g}, func(c *Config) {
		c.Endpoint, c.MaxHalfOpen, c.HelloTimeout = "127.0.0.1:0", 4, outlettest.Patience
	})
	honest := dial(t, r)
	honest.send(helloWith(`"authorization"="Bearer right"`))
	<-g.asked
	for range 20 { // each of which closes the oldest one without a hello
		dial(t, r)
	}
	for range 2 {
		dial(t, r).send(helloWith(`"authorization"="Bearer wrong"`))
		<-g.asked
	}
	further := dial(t, r)
	further.send(helloWith(`"authorization"="Bearer right"`))
	assert.Equal(t, wire.RefuseLimit, further.refused().Code)

	elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	conn, err := elsewhere.DialContext(t.Context(), "tcp", r.listener.Addr().String())
	require.NoError(t, err)
	other := newAgent(t, conn)
	other.send(strings.TrimSuffix(another(2), "\n") + ` headers "authorization"="Bearer right"` + "\n")
	<-g.asked
	close(g.opened)
	honest.next(wire.FrameWelcome)
	other.next(wire.FrameWelcome)
}

func TestSecretsAreHiddenInErrors(t *testing.T) {
	headers := wire.Headers{{Key: "authorization", Value: "Basic dXNlcjpwdw=="}, {Key: "x-key", Value: "k1"}, {Key: "x", Value: ""}}
	for text, want := range map[string]string{
		"no match":                         "no match",
		`bad value "Basic dXNlcjpwdw=="`:   `bad value "[secret]"`,
		"cannot decode dXNlcjpwdw==: fail": "cannot decode [secret]: fail",
		"key k1 is unknown":                "key [secret] is unknown",
		"want scheme Basic":                "want scheme Basic",
	} {
		assert.Equal(t, want, withoutSecrets(errors.New(text), headers))
	}
}
