// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.yaml.in/yaml/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weft-otel/weft/bench/proc"
)

// disks is the section of storage: the size of the spans of the sample exchange as OTLP, and on the disk of a Jaeger that uses Badger, which
// compresses them. docs/adr/020-what-spans-repeat.md says what takes the space.
type disks struct {
	requests    [][]byte
	otlp, spans int
	disk        []float64 // bytes, by round
}

// spansOfTrace is max_spans_per_window of config/jaeger.yaml.
const spansOfTrace = 2000

func (d *disks) begin(ctx context.Context, o *options) error {
	if err := errors.Join(need("build/weft", "build"), need("build/libweft.so", "build"), need("build/jaeger", "build/jaeger")); err != nil {
		return err
	}
	jdks, err := findJDKs(ctx)
	if err != nil {
		return err
	}
	sources, err := filepath.Glob("e2e/jvm/com/acme/orders/*.java")
	if err != nil {
		return err
	}
	classes, err := jdks[0].compile(ctx, o, ".", sources...)
	if err != nil {
		return err
	}
	recorded, converted := filepath.Join(o.dir, "exchange.weft"), filepath.Join(o.dir, "exchange.spans.json")
	const seconds = "21" // two full windows
	for _, args := range [][]string{
		{"run", "--agent=build/libweft.so", "-o", recorded, "--", jdks[0].program("java"), "-cp", classes, "com.acme.orders.Exchange", seconds},
		{"convert", recorded, converted},
	} {
		if out, err := exec.CommandContext(ctx, "build/weft", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("weft %s: %w\n%s", args[0], err, proc.Tail(string(out)))
		}
	}
	return d.read(converted)
}

// read reads the lines of a file with spans, without the attributes of resources that config/jaeger.yaml deletes, since Jaeger repeats them.
func (d *disks) read(file string) error {
	var config struct {
		Processors struct {
			Resource struct {
				Attributes []struct{ Action, Key string }
			}
		}
	}
	text, err := os.ReadFile("config/jaeger.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &config)
	}
	if err != nil {
		return err
	}
	if text, err = os.ReadFile(file); err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		if err != nil {
			return err
		}
		for _, rs := range td.ResourceSpans().All() {
			for _, change := range config.Processors.Resource.Attributes {
				if change.Action == "delete" {
					rs.Resource().Attributes().Remove(change.Key)
				}
			}
		}
		request, err := new(ptrace.ProtoMarshaler).MarshalTraces(td) // a request has the same form
		if err != nil {
			return err
		}
		d.requests = append(d.requests, request)
		d.otlp += len(request)
		d.spans += td.SpanCount()
	}
	return nil
}

func (d *disks) round(ctx context.Context) error {
	data, err := os.MkdirTemp("", "weft-jaeger-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data) //nolint:errcheck // a temporary folder
	env := append(os.Environ(), "OTEL_TRACES_SAMPLER=always_off", "JAEGER_DATA="+data)
	at := make(map[string]string)
	for _, name := range []string{"OTLP_GRPC", "OTLP_HTTP", "QUERY_HTTP", "QUERY_GRPC", "HEALTH"} {
		if at[name], err = proc.FreeAddress(); err != nil {
			return err
		}
		env = append(env, "JAEGER_"+name+"="+at[name])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // kills the server after an error
	var output bytes.Buffer
	server := exec.CommandContext(ctx, "build/jaeger", "--config", "bench/speed/jaeger.yaml")
	server.Env, server.Stdout, server.Stderr = env, &output, &output
	if err := server.Start(); err != nil {
		return err
	}
	if err = proc.Ready(ctx, at["HEALTH"]+"/status", patience); err == nil {
		err = errors.Join(d.send(ctx, at["OTLP_GRPC"]), server.Process.Signal(syscall.SIGTERM)) // it then writes its tables
	}
	if err != nil {
		cancel()
	}
	if err = errors.Join(err, server.Wait()); err != nil {
		return fmt.Errorf("jaeger: %w\n%s", err, proc.Tail(output.String()))
	}
	size, err := tablesIn(data)
	d.disk = append(d.disk, float64(size))
	return err
}

// send sends all spans and returns when Jaeger has stored them.
func (d *disks) send(ctx context.Context, address string) error {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	for _, request := range d.requests {
		var answer []byte
		if err = conn.Invoke(ctx, export, request, &answer, grpc.ForceCodec(encoded{})); err != nil {
			break
		}
	}
	return errors.Join(err, conn.Close())
}

// tablesIn returns the size of the tables of a Badger. Its log is empty after an orderly end.
func tablesIn(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".sst") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

func (d *disks) rows() []line {
	const mostDisk, mostOTLP = 1500, 1250
	kb := func(size float64) float64 { return size * spansOfTrace / float64(d.spans) / 1000 }
	disk, otlp := kb(medianOf(d.disk, itself)), kb(float64(d.otlp))
	row := func(where string, size float64, most int) line {
		return line{
			what: fmt.Sprintf("trace of %d spans of the exchange, %s", spansOfTrace, where),
			weft: fmt.Sprintf("%.0f KB", size), goal: fmt.Sprintf("≤ %d KB", most), met: size <= float64(most),
		}
	}
	return []line{row("as OTLP", otlp, mostOTLP), row("in Jaeger's Badger", disk, mostDisk)}
}
