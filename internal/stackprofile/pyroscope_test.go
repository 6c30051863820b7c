// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/stackprofile"
)

// pyroscope is what Pyroscope 2.2 makes of profiles, restated from its conversion of OTLP (pkg/ingester/otlp/convert.go at 3fe6a457):
//
//   - The service is the attribute service.name of a sample, else that of the resource, if its key is not a reference.
//   - A profile has the name of its period type if it has a period, else process_cpu.
//   - Where there is a period, a sample must have one value. Attributes that are texts become labels, a link becomes span_id and trace_id.
//   - Frames are the lines of a location; the mapping of each location must exist.
type pyroscope struct {
	sums   map[string]int64 // by service and the full name of the type
	labels map[string]bool
	frames map[string]bool
}

func (y *pyroscope) ingest(pd pprofile.Profiles, resource string) error {
	d := pd.Dictionary()
	text := func(i int32) string { return d.StringTable().At(int(i)) }
	for _, rp := range pd.ResourceProfiles().All() {
		for _, p := range rp.ScopeProfiles().At(0).Profiles().All() {
			name := "process_cpu"
			period := ":"
			if p.Period() != 0 {
				name = text(p.PeriodType().TypeStrindex())
				period = name + ":" + text(p.PeriodType().UnitStrindex())
			}
			full := fmt.Sprintf("%s:%s:%s:%s", name, text(p.SampleType().TypeStrindex()), text(p.SampleType().UnitStrindex()), period)
			for _, s := range p.Samples().All() {
				service := resource
				for _, i := range s.AttributeIndices().All() {
					a := d.AttributeTable().At(int(i))
					switch key := text(a.KeyStrindex()); {
					case key == "service.name":
						service = a.Value().Str()
					case a.Value().Type() == pcommon.ValueTypeStr:
						y.labels[key] = true
					}
				}
				if s.LinkIndex() != 0 {
					y.labels["trace_id"] = true
				}
				if s.Values().Len() != 1 {
					return fmt.Errorf("%s: %d values", full, s.Values().Len())
				}
				for _, i := range d.StackTable().At(int(s.StackIndex())).LocationIndices().All() {
					l := d.LocationTable().At(int(i))
					_ = d.MappingTable().At(int(l.MappingIndex())) // panics if there is none
					y.frames[text(d.FunctionTable().At(int(l.Lines().At(0).FunctionIndex())).NameStrindex())] = true
				}
				y.sums[cmp.Or(service, "unknown_service")+" "+full] += s.Values().At(0)
			}
		}
	}
	return nil
}

func newPyroscope() pyroscope {
	return pyroscope{sums: make(map[string]int64), labels: make(map[string]bool), frames: make(map[string]bool)}
}

func TestPyroscope(t *testing.T) {
	list := example(t)
	y := newPyroscope()
	require.NoError(t, y.ingest(write(list, stackprofile.Label{Key: "service.name", Value: "orders"}), ""))
	want := make(map[string]int64)
	for _, p := range list {
		sum, counted := p.Total(), "contentions"
		if p.Family == profile.OffCPU {
			counted = "waits"
		}
		want[fmt.Sprintf("orders %s:%s:count:%s:count", p.Family, counted, p.Family)] = int64(sum.Count)
		want[fmt.Sprintf("orders %s:delay:nanoseconds:%s:count", p.Family, p.Family)] = int64(sum.Time)
	}
	assert.Equal(t, want, y.sums)
	for _, label := range []string{"weft.lock.name", "weft.wait.kind", "weft.thread.pool", "trace_id"} {
		assert.True(t, y.labels[label], label)
	}
	assert.True(t, y.frames["com.acme.Report.write"])
}

// Once this fails, resources have plain keys again, and service_on_samples may not be necessary any more.
func TestPyroscopeDoesNotSeeTheResource(t *testing.T) {
	pd := write(example(t))
	pd.ResourceProfiles().At(0).Resource().Attributes().PutStr("service.name", "orders")
	data, err := new(pprofile.ProtoMarshaler).MarshalProfiles(pd)
	require.NoError(t, err)
	resources := 0
	for len(data) > 0 {
		field, kind, n := protowire.ConsumeTag(data)
		require.Equal(t, protowire.BytesType, kind)
		value, size := protowire.ConsumeBytes(data[n:])
		require.Positive(t, size)
		if data = data[n+size:]; field == 1 { // resource_profiles
			resources++
			assert.NotContains(t, string(value), "service.name")
		}
	}
	assert.Equal(t, 1, resources)
	y := newPyroscope()
	require.NoError(t, y.ingest(pd, ""))
	for series := range y.sums {
		assert.True(t, strings.HasPrefix(series, "unknown_service "), series)
	}
}

// The classes of lambdas and proxies have other numbers in each run.
func TestGeneratedClassesHaveNoNumbers(t *testing.T) {
	p := &stackprofile.Profile{
		Stacks: [][]jvmthread.Frame{
			{{Class: "a.Shop$$Lambda$88+0x00007f8bac007c20.728258269", Method: "run"}, {Class: "a.Shop$1", Method: "call"}},
		},
		Samples: []stackprofile.Sample{{Sum: profile.Sum{Count: 1, Time: 3}}},
	}
	var out strings.Builder
	require.NoError(t, stackprofile.WriteCollapsed(&out, p))
	assert.Equal(t, "a.Shop$1.call;a.Shop$$Lambda.run 3\n", out.String())
}
