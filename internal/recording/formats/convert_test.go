// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// encoding is a sink that writes a recording in another format.
type encoding struct {
	recording.Encoder

	text []byte
}

func (e *encoding) Session(s *recording.Session) error {
	e.text = e.Begin(e.text, s)
	return nil
}

func (e *encoding) Batch(b *recording.Batch) error {
	e.text = e.Encoder.Batch(e.text, b)
	return nil
}

func (*encoding) Problem(p recording.Problem) error { return p }

func (*encoding) End(recording.End) error { return nil }

// convert returns the lines of a recording in another format.
func convert(t *testing.T, from, to, text string) []string {
	t.Helper()
	source, err := Find(from)
	require.NoError(t, err)
	target, err := Find(to)
	require.NoError(t, err)
	sym := symbols.New(symbols.DefaultLimits())
	e := &encoding{Encoder: target.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})}
	d := source.New(recording.Options{Symbols: sym}, recording.CompleteWaits(e))
	_, err = d.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	return strings.Split(strings.TrimSpace(string(e.text)), "\n")
}

// A thread whose id has more than 32 bits gets a hash code of its own, and each end of a wait is an element, whichever event marks it.
func TestConversionsKeepWhatBothFormatsCarry(t *testing.T) {
	orca := convert(t, "tptp", "orca", `<threadStart threadId="17179869190" time="1" objIdRef="100" threadName="a"/>
<callStart threadId="17179869190" time="2" objIdRef="101"/>
<threadStart threadId="2147483648" time="3" objIdRef="101" threadName="b"/>
<monContendedEnter threadIdRef="17179869190" time="4" objIdRef="7" threadOwner="2147483648"/>
<monContendedEntered threadIdRef="17179869190" time="5" objIdRef="7"/>
<monWait threadIdRef="17179869190" time="6" objIdRef="101" timeout="0"/>
<threadEnd threadIdRef="2147483648" time="7"/>
<monWaited threadIdRef="17179869190" time="8" objIdRef="101"/>`)
	assert.Equal(t, []string{
		"1.000000000,ThreadStarted,80000000,a",
		"2.000000000,ThreadStart,80000000,80000001,0",
		"3.000000000,ThreadStarted,80000001,b",
		"4.000000000,MonitorContendedEnter,80000000,00000007,80000001,0",
		"5.000000000,MonitorContendedEntered,80000000,00000007,0",
		"6.000000000,ThreadJoin,80000000,80000001,0",
		"7.000000000,ThreadEnded,80000001",
		"8.000000000,ThreadJoined,80000000,80000001,0",
	}, orca)
}

func TestEachEndOfAWaitIsAnElement(t *testing.T) {
	trace := convert(t, "orca", "tptp", `1,ThreadStarted,0000000A,main
1,ThreadStarted,0000000B,b
2,ObjectWait,0000000A,00ABCDEF,0
2.5,ObjectNotify,0000000B,00ABCDEF,0
3,ObjectWaited,0000000A,00ABCDEF,0
4,ThreadSleep,0000000A,0
5,ThreadSlept,0000000A,0
6,ThreadJoin,0000000A,0000000B,0
7,ThreadEnded,0000000B
8,ThreadJoined,0000000A,0000000B,0
9,ObjectWaited,0000000A,00ABCDEF,0
`)
	assert.Equal(t, []string{
		`<monWait threadIdRef="10" time="2.000000000" objIdRef="11259375" timeout="0"/>`,
		`<callNotify threadId="11" time="2.500000000" objIdRef="11259375" isNotifyAll="0"/>`,
		`<monWaited threadIdRef="10" time="3.000000000" objIdRef="11259375" timeout="0" isTimedOut="0"/>`,
		`<monWait threadIdRef="10" time="4.000000000" objIdRef="-1" timeout="0"/>`,
		`<monWaited threadIdRef="10" time="5.000000000" objIdRef="-1"/>`,
		`<monWait threadIdRef="10" time="6.000000000" objIdRef="4294967307" timeout="0"/>`,
		`<threadEnd threadIdRef="11" time="7.000000000"/>`,
		`<monWaited threadIdRef="10" time="8.000000000" objIdRef="4294967307" timeout="0" isTimedOut="0"/>`,
		`<monWaited threadIdRef="10" time="9.000000000" objIdRef="11259375" isTimedOut="0"/>`,
	}, trace[5:])
}
