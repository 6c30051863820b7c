// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/extension/threadengineextension"
)

// other is another extension.
type other struct {
	component.StartFunc
	component.ShutdownFunc
}

func TestEngineMustBeAnExtension(t *testing.T) {
	options := threadengineextension.DefaultOptions()
	options.Engine = engineID
	for _, test := range []struct {
		host host
		want string
	}{
		{host{}, `engine: extension "thread_engine" not found; configure it under extensions and add it to service::extensions`},
		{host{engineID: other{}}, `engine: extension "thread_engine" is not a thread_engine extension; name one that is`},
	} {
		p := newProcessor(t, options, new(consumertest.TracesSink))
		require.EqualError(t, p.Start(t.Context(), test.host), test.want)
		require.NoError(t, p.Shutdown(t.Context()))
	}
}

func TestHeapGrowthHasARange(t *testing.T) {
	cfg := threadengineextension.NewFactory().CreateDefaultConfig().(*threadengineextension.Config)
	require.NoError(t, cfg.Validate())
	cfg.HeapGrowth = 101
	require.EqualError(t, cfg.Validate(), "heap_growth: 101 is out of range, use 1 to 100, or 0 to leave it alone")
}

func TestOptionsOfTheEngineBelongToIt(t *testing.T) {
	options := threadengineextension.DefaultOptions()
	options.Window, options.Frames.Libraries = time.Second, []string{"com.acme.framework"}
	require.NoError(t, options.Validate())
	options.Engine = engineID
	require.EqualError(t, options.Validate(), "window, frames: has no effect with engine: thread_engine; set it in that extension")
}
