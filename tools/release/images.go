// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/weft-otel/weft/tools/release/internal/image"
)

// images writes an OCI layout for each image, with both processors in it.
func (r release) images() error {
	for name, contents := range map[string]func(processor string) image.Image{
		"weft-collector":      func(p string) image.Image { return r.collectorImage(p, "weft-collector") },
		"weft-collector-full": func(p string) image.Image { return r.collectorImage(p, "weft-collector-full") },
		"weft-agent-init":     r.agentImage,
	} {
		var images []image.Image
		for _, processor := range r.processors {
			images = append(images, contents(processor))
		}
		if err := image.Write(filepath.Join(r.out, "oci", name), r.version, images, r.time); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// collectorImage is a collector and nothing else: no shell, no libc. By default it listens on addresses of its own network only, which
// the containers of a pod share.
func (r release) collectorImage(processor, program string) image.Image {
	base := []image.Entry{
		{Name: "/etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0:root:/:\nweft:x:65532:65532:weft:/var/lib/weft:\n")},
		{Name: "/etc/group", Mode: 0o644, Data: []byte("root:x:0:\nweft:x:65532:\n")},
		{Name: "/etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Data: authorities()},
		{Name: "/tmp", Mode: 0o777 | fs.ModeSticky},
		{Name: "/run/weft", Mode: 0o750 | fs.ModeSetgid, Owner: image.User},
		{Name: "/var/lib/weft", Mode: 0o750, Owner: image.User},
		{Name: "/LICENSE", Mode: 0o644, Source: r.repo("LICENSE")},
	}
	return image.Image{
		Processor: processor,
		Config: v1.Config{
			User: user(), Labels: r.labels(program, "OpenTelemetry Collector that shows why the threads of a JVM wait"),
			Entrypoint: []string{"/usr/bin/weft-collector"}, Cmd: []string{"--config=/etc/weft/collector.yaml"},
			Env:          []string{"PATH=/usr/bin", "WEFT_ENDPOINT=tcp://localhost:4327"},
			ExposedPorts: map[string]struct{}{"4327/tcp": {}, "8090/tcp": {}, "4329/tcp": {}},
		},
		Layers: [][]image.Entry{base, {
			{Name: "/usr/bin/weft-collector", Mode: 0o755, Source: r.program("linux", processor, program)},
			{Name: "/" + thirdParty, Mode: 0o644, Source: r.noticesOf("linux", processor, program+"-image")},
			{Name: "/etc/weft/collector.yaml", Mode: 0o644, Source: r.packaging("collector.yaml")},
		}},
	}
}

// agentImage is for init containers: the agent's files in /weft and a program that copies them. Their names are the same on each
// processor.
func (r release) agentImage(processor string) image.Image {
	library := func(libc string) string {
		return r.repo("build/dist/libweft-" + libc + "-" + machine(processor) + ".so")
	}
	return image.Image{
		Processor: processor,
		Config: v1.Config{
			User: user(), Labels: r.labels("weft-agent-init", "The agent of Weft, to be copied by an init container"),
			Env: []string{"PATH=/bin"},
		},
		Layers: [][]image.Entry{{
			{Name: "/bin/cp", Mode: 0o755, Source: r.program("linux", processor, "cp")},
			{Name: "/" + thirdParty, Mode: 0o644, Source: r.noticesOf("linux", processor, "cp")},
			{Name: "/LICENSE", Mode: 0o644, Source: r.repo("LICENSE")},
			{Name: "/weft/libweft.so", Mode: 0o755, Source: library("linux")},
			{Name: "/weft/libweft-musl.so", Mode: 0o755, Source: library("linux-musl")},
			{Name: "/weft/weft-otel.jar", Mode: 0o644, Source: r.repo("build/weft-otel.jar")},
		}},
	}
}

func user() string { return fmt.Sprintf("%d:%d", image.User, image.User) }

func (r release) labels(title, description string) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title": title, prefix + "description": description, prefix + "version": r.version, prefix + "licenses": "Apache-2.0",
		prefix + "vendor": "The Weft Authors", prefix + "created": r.time.Format(time.RFC3339),
		prefix + "source": "https://github.com/weft-otel/weft", prefix + "url": "https://github.com/weft-otel/weft",
	}
}

// authorities returns Mozilla's certificate authorities as of the version of a Go module, without those that it trusts under conditions
// only, which a PEM file cannot state. Those of this machine may include private ones.
func authorities() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer does not fail
	}
	return all.Bytes()
}
