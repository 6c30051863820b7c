// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// TestAgentVerifiesTheReceiver lets a real agent connect to a listener with all kinds of certificates. It sends its hello only to the
// right one; otherwise it prints one line and the program goes on.
func TestAgentVerifiesTheReceiver(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	good := ours.issue(t, nil)
	trusted := ",ca-file=" + ours.file
	locked := filepath.Join(t.TempDir(), "locked.pem")
	require.NoError(t, os.WriteFile(locked, []byte(lockedKey), 0o600))
	for _, test := range []struct {
		name    string
		server  keyPair
		host    string // default: localhost
		options string
		env     []string
		version uint16
		want    string // in the line; empty: it connects
	}{
		{name: "name", server: good, options: trusted},
		{name: "address", server: good, host: "127.0.0.1", options: trusted},
		{name: "TLS 1.2", server: good, options: trusted, version: tls.VersionTLS12},
		{name: "server name", server: ours.issue(t, named("weft.example")), options: trusted + ",server-name=weft.example"},
		{name: "wildcard", server: ours.issue(t, named("*.example.org")), options: trusted + ",server-name=weft.example.org"},
		{name: "environment", server: good, env: []string{"OTEL_EXPORTER_OTLP_CERTIFICATE=" + ours.file}},
		{
			name: "environment for traces", server: good,
			env: []string{"OTEL_EXPORTER_OTLP_CERTIFICATE=" + other.file, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE=" + ours.file},
		},
		{name: "option before environment", server: good, options: trusted, env: []string{"OTEL_EXPORTER_OTLP_CERTIFICATE=" + other.file}},

		{name: "wrong authority", server: other.issue(t, nil), options: trusted, want: "set ca-file"},
		{name: "the system's authorities", server: good, want: "set ca-file"},
		{name: "expired", server: ours.issue(t, expired), options: trusted, want: "certificate has expired; renew it"},
		{name: "not yet valid", server: ours.issue(t, notYetValid), options: trusted, want: "certificate is not yet valid"},
		{name: "wrong name", server: ours.issue(t, named("weft.example")), options: trusted, want: "is not for localhost;"},
		{name: "wrong server name", server: good, options: trusted + ",server-name=weft.example", want: "is not for weft.example;"},
		{name: "wrong address", server: ours.issue(t, named("localhost")), host: "127.0.0.1", options: trusted, want: "is not for 127.0.0.1;"},
		{name: "name in the subject only", server: ours.issue(t, namedOnlyInSubject), options: trusted, want: "is not for localhost;"},
		{name: "TLS 1.1", server: good, options: trusted, version: tls.VersionTLS11, want: "TLS failed: "},
		{name: "no authority", server: good, options: ",ca-file=/no/ca.pem", want: "ca-file: cannot read /no/ca.pem: No such file or directory;"},
		{name: "folder", server: good, options: ",ca-file=/tmp", want: "ca-file: cannot read /tmp: it is not a file;"},
		{name: "not PEM", server: good, options: ",ca-file=/proc/version", want: "ca-file: no certificate in /proc/version;"},
		{name: "foreign key", server: good, options: trusted + ",cert-file=" + good.cert + ",key-file=" + other.issue(t, nil).key, want: "key-file: "},
		{name: "locked key", server: good, options: trusted + ",cert-file=" + good.cert + ",key-file=" + locked, want: "without a password"},
		{name: "no token", server: good, options: trusted + ",token-file=/no/token", want: "token-file: cannot use /no/token: No such file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			onEachJDK(t, func(t *testing.T, j jdk) {
				l := listenWithTLS(t, &tls.Config{
					Certificates: []tls.Certificate{test.server.load(t)}, MinVersion: tls.VersionTLS10, MaxVersion: test.version,
				})
				host := test.host
				if host == "" {
					host = "localhost"
				}
				jvm := secureJava(t, j, test.env, "tls://"+net.JoinHostPort(host, l.port)+test.options)
				if test.want == "" {
					poll(t, "the agent says hello", func() bool { return strings.HasPrefix(l.heard(), "WEFT") })
				} else {
					poll(t, "the agent says why it does not connect", func() bool { return len(jvm.errLines()) > 0 })
					assert.Contains(t, jvm.errLines()[0], "weft: not connected to tls://"+host)
					assert.Contains(t, jvm.errLines()[0], test.want)
					poll(t, "the agent tries again", func() bool { return l.count() > 2 })
					assert.Empty(t, l.heard(), "what the agent sent")
				}
				_, err := io.WriteString(jvm.stdin, "\n")
				require.NoError(t, err)
				require.Equal(t, 0, jvm.wait(t), "exit code")
				if test.want == "" {
					assert.Empty(t, jvm.errLines())
				} else {
					assert.Len(t, jvm.errLines(), 1)
				}
			})
		})
	}
}

// TestAgentOverTLS has everything at once: certificates of both sides, and a token in a file. It uses a real collector.
func TestAgentOverTLS(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		const right, wrong = "right-4f9c21d7", "wrong-77aa01be"
		ca, foreign := newAuthority(t), newAuthority(t)
		server, client := ca.issue(t, nil), ca.issue(t, named("jvm"))
		theirs, ours := filepath.Join(t.TempDir(), "tokens"), filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(theirs, []byte(right+"\n"), 0o600))
		require.NoError(t, os.WriteFile(ours, []byte("  "+right+"\n"), 0o600))
		address := freeAddress(t)
		c := startCollector(t, setup{endpoint: "tcp://" + address, more: secured(server, ca, theirs)})
		to := "tls://" + address + ",ca-file=" + ca.file
		identity := ",cert-file=" + client.cert + ",key-file=" + client.key

		var truth spantest.Sleeps
		runJava(t, j, to+identity+",token-file="+ours, "sleeper", &truth, "-Xcheck:jni", "Sleeps", "50")

		stays := func(name, options, want string) {
			t.Helper()
			jvm := secureJava(t, j, nil, options+",service="+name)
			poll(t, "the agent of "+name+" says why it is not connected", func() bool { return len(jvm.errLines()) > 0 })
			assert.Contains(t, jvm.errLines()[0], want, name)
			notes, err := exec.Command(built("weft"), "control", strconv.Itoa(jvm.cmd.Process.Pid)).CombinedOutput()
			require.NoError(t, err, "%s", notes)
			assert.Contains(t, string(notes), want, "weft control")
			jvm.stop(t, syscall.SIGTERM)
		}
		stays("anonymous", to+",token-file="+ours, "set cert-file and key-file to a certificate that the receiver's client_ca_file accepts")
		stranger := foreign.issue(t, nil)
		stays("stranger", to+",token-file="+ours+",cert-file="+stranger.cert+",key-file="+stranger.key, "client_ca_file")
		stays("tokenless", to+identity, "the receiver does not accept the credentials; check token-file or headers")
		stays("guesser", to+identity+",headers=authorization=Bearer%20"+wrong, "the receiver does not accept the credentials")

		// The agent reads its token again when it reconnects, and so does the collector its own.
		require.NoError(t, os.WriteFile(ours, []byte(wrong), 0o600))
		late := secureJava(t, j, nil, to+identity+",service=late,token-file="+ours)
		poll(t, "the wrong token is refused", func() bool { return len(late.errLines()) > 0 })
		require.NoError(t, os.WriteFile(ours, []byte(right), 0o600))
		poll(t, "the right token is read", func() bool { return len(c.spans(t).Cuts("late")) > 0 })
		late.stop(t, syscall.SIGTERM)

		variables := []string{
			"OTEL_EXPORTER_OTLP_HEADERS=x-tenant=a,authorization=Bearer%20" + right, "OTEL_EXPORTER_OTLP_CERTIFICATE=" + ca.file,
			"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=" + client.cert, "OTEL_EXPORTER_OTLP_CLIENT_KEY=" + client.key,
		}
		standard := secureJava(t, j, variables, "tls://"+address+",service=standard")
		poll(t, "the variables of OTLP's exporters apply", func() bool { return len(c.spans(t).Cuts("standard")) > 0 })
		standard.stop(t, syscall.SIGTERM)
		assert.Empty(t, standard.errLines())

		o := c.finish(t, "sleeper", "late", "standard")
		spantest.CheckSleeps(t, o, "sleeper", truth)
		for _, service := range []string{"anonymous", "stranger", "tokenless", "guesser"} {
			assert.Empty(t, o.Cuts(service), "%s must not get in", service)
		}
		written, err := os.ReadFile(filepath.Join(c.out, "spans.json"))
		require.NoError(t, err)
		for _, secret := range []string{right, wrong} {
			assert.NotContains(t, string(written), secret)
			assert.NotContains(t, strings.Join(slices.Concat(c.errLines(), c.outLines()), "\n"), secret)
		}
		assert.Contains(t, strings.Join(c.errLines(), "\n"), "Refused an agent that protocols::stream::auth does not accept")
	})
}

// TestCertificatesAreReplacedWhileAllRun renews the receiver's certificate and the authority of the agents. Nothing is restarted.
func TestCertificatesAreReplacedWhileAllRun(t *testing.T) {
	before, after := newAuthority(t), newAuthority(t)
	server, client := before.issue(t, nil), before.issue(t, nil)
	trusted := filepath.Join(t.TempDir(), "clients.pem") // that the receiver accepts
	ca, err := os.ReadFile(before.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(trusted, ca, 0o600))
	address := freeAddress(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("t"), 0o600))
	more := secured(server, &authority{file: trusted}, tokens)
	c := startCollector(t, setup{endpoint: "tcp://" + address, more: append(more, stream+"tls::reload_interval: 1s", stream+"tls::client_ca_file_reload: true")})
	options := "tls://" + address + ",token-file=" + tokens + ",cert-file=" + client.cert + ",key-file=" + client.key + ",ca-file=" + before.file
	early := secureJava(t, jdks[0], nil, options+",service=early")
	poll(t, "the agent is connected", func() bool { return len(c.spans(t).Cuts("early")) > 0 })

	after.issueTo(t, server, nil)
	after.issueTo(t, client, nil)
	ca, err = os.ReadFile(after.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(trusted, ca, 0o600))
	renewed := secureJava(t, jdks[0], nil, strings.Replace(options, before.file, after.file, 1)+",service=renewed")
	poll(t, "an agent that trusts the new certificate is connected", func() bool { return len(c.spans(t).Cuts("renewed")) > 0 })
	distrustful := secureJava(t, jdks[0], nil, options+",service=distrustful")
	poll(t, "one that trusts only the old one is not", func() bool { return len(distrustful.errLines()) > 0 })
	assert.Contains(t, distrustful.errLines()[0], "set ca-file")
	for _, jvm := range []*process{early, renewed, distrustful} {
		jvm.stop(t, syscall.SIGTERM)
	}
	o := c.finish(t, "early", "renewed")
	assert.Empty(t, o.Cuts("distrustful"))
}

// stream is the prefix of options of the receiver, for setup.more.
const stream = "yaml:receivers::jvm_thread::protocols::stream::"

// secured configures TLS with certificates of both sides, and tokens in a file.
func secured(server keyPair, clients *authority, tokens string) []string {
	return []string{
		stream + "tls::cert_file: " + server.cert, stream + "tls::key_file: " + server.key, stream + "tls::client_ca_file: " + clients.file,
		stream + "auth::authenticator: bearertokenauth", "yaml:extensions::bearertokenauth::filename: " + tokens,
		"yaml:service::extensions: [health_check, thread_engine, bearertokenauth]",
	}
}

// secureJava runs a program that ends with its input.
func secureJava(t *testing.T, j jdk, env []string, endpoint string) *process {
	t.Helper()
	agent := "-agentpath:" + built("libweft.so") + "=endpoint=" + endpoint
	return start(t, env, filepath.Join(j.Home, "bin", "java"), agent, "-Xcheck:jni", "-cp", classes, "Idle")
}

// tlsListener accepts agents, and never answers.
type tlsListener struct {
	port string

	mu       sync.Mutex
	accepted int
	data     []byte // decrypted
}

func listenWithTLS(t *testing.T, config *tls.Config) *tlsListener {
	t.Helper()
	listener, err := net.Listen("tcp", freeAddress(t))
	require.NoError(t, err)
	l := &tlsListener{}
	_, l.port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { l.read(tls.Server(conn, config)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // nothing is buffered
		conns.Wait()
	})
	return l
}

func (l *tlsListener) read(conn *tls.Conn) {
	defer func() { _ = conn.Close() }() // nothing is buffered
	l.mu.Lock()
	l.accepted++
	l.mu.Unlock()
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		l.mu.Lock()
		l.data = append(l.data, buffer[:n]...)
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (l *tlsListener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

func (l *tlsListener) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.data)
}
