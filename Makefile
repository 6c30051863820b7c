# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# Programs that a target needs are installed where that is possible (scripts/need.sh). A JDK is found through
# JAVA_HOME, or else through javac on the path.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO ?= go
TOOL := $(GO) tool -modfile=tools/go.mod
OCB := $(TOOL) builder
LINT := build/golangci-lint
FUZZTIME ?= 200000x
STRESS ?= 10m
BENCHCOUNT ?= 5
GO_LDFLAGS ?= -s -w
VERSION := $(shell sed -n 's/^  version: //p' builder-config.yaml)

# A build must not depend on a version control system being there.
export GOFLAGS ?= -buildvcs=false
ifeq ($(origin JAVA_HOME),undefined)
JAVA_HOME = $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac 2>/dev/null)))
endif
export JAVA_HOME

# Each folder in cmd is a program of that name.
PROGRAMS = $(patsubst cmd/%/,build/%,$(wildcard cmd/*/))
PACKAGES = $(shell $(GO) list ./... | grep -v '/e2e$$')

.PHONY: help
help: ## list the targets
	@scripts/help.sh $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: build/weft-collector build/libweft.so $(PROGRAMS) ## build the collector, the agent and the command into build/

.PHONY: build-full
build-full: build/weft-collector-full ## build the distribution of a release, with all components

.PHONY: dist
dist: ## build the agent for Linux on x86-64 and aarch64, glibc and musl, into build/dist/
	@scripts/need.sh javac
	$(MAKE) -C agent dist

.PHONY: demo
demo: build ## start a Java program with the agent and say in words why its threads wait
	e2e/demo.sh

.PHONY: demo-jaeger
demo-jaeger: build build/jaeger ## the same with a real Jaeger to look at (its first build takes minutes)
	e2e/demo.sh --jaeger

.PHONY: test
test: ## everything that CI checks, from generated files to a real JVM
	scripts/retry.sh $(GO) list -deps -test ./... >/dev/null
	scripts/retry.sh $(GO) list -modfile=tools/go.mod -deps tool >/dev/null
	scripts/generated.sh $(MAKE) --no-print-directory generate
	$(MAKE) --no-print-directory lint
	$(GO) test -race -timeout 4h $(PACKAGES)
	$(MAKE) --no-print-directory fuzz FUZZTIME=10000x
	$(MAKE) -C agent test
	$(MAKE) --no-print-directory build build-full
	$(MAKE) -C agent jvmtest disttest
	$(MAKE) --no-print-directory e2e

.PHONY: check
check: ## the inner loop: format, vet, unit tests of Go and C
	@scripts/need.sh cc javac
	@unformatted=$$($(TOOL) gofumpt -extra=group_params,clothe_returns -l $(wildcard *.go) $(filter-out build/,$(wildcard */)) | \
		grep -v /node_modules/); test -z "$$unformatted" || { echo "not as gofumpt -extra writes it: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(MAKE) -C agent test
	$(GO) test $(PACKAGES)

.PHONY: lint
lint: $(LINT) web/node_modules/.installed ## golangci-lint over Go; clang-format and clang-tidy over C; types, lint and unit tests of the page
	@scripts/need.sh clang-format clang-tidy
	$(GO) mod tidy -diff
	$(LINT) config verify
	$(LINT) run ./...
	$(MAKE) -C agent lint
	cd web && npm --silent run check

.PHONY: generate
generate: web/dist/app.js ## write again what is generated: component metadata, the wire tables and their C header, the page
	$(GO) generate ./...

.PHONY: web
web: web/node_modules/.installed ## the page: types, lint, unit tests, and web/dist
	cd web && npm --silent run check && npm --silent run build

web/dist/app.js: web/node_modules/.installed always
	cd web && npm --silent run build

web/node_modules/.installed: web/package.json web/package-lock.json
	@scripts/need.sh npm
	cd web && ../scripts/retry.sh npm --loglevel=error ci
	@touch $@
	$(MAKE) --no-print-directory dashboards

.PHONY: dashboards
dashboards: config/grafana/node_modules/.installed ## write the dashboards for Grafana, and check them against its schema
	npm --prefix config/grafana run --silent build

config/grafana/node_modules/.installed: config/grafana/package-lock.json
	@scripts/need.sh npm
	scripts/retry.sh npm --prefix config/grafana ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: bench
bench: ## measure the hot paths, in Go and in the agent, and print tables
	@scripts/bench.sh $(BENCHCOUNT)
	@$(MAKE) --no-print-directory -C agent bench

.PHONY: bench-page
bench-page: web ## measure the page over a million intervals in a real Chromium, and print a table (BENCH_INTERVALS for more)
	@scripts/need.sh chromium
	@$(GO) test -run '^$$' -bench BenchmarkPage -benchtime 1x -timeout 20m ./exporter/threadviewexporter/internal/devserver

.PHONY: bench-agent
bench-agent: build/libweft.so ## measure the agent against no agent and against the flight recorder, in real JVMs (20 minutes)
	@$(MAKE) --no-print-directory -C agent bench-agent

.PHONY: fuzz
fuzz: ## run each fuzz target with as many inputs as FUZZTIME says (200000x)
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: e2e
e2e: build build/jaeger build/weft-otel.jar ## run real JVMs with the agent against the built collector and a real Jaeger
	@scripts/need.sh javac mvn promtool amtool prometheus-alertmanager
	@scripts/e2e.sh $(GO) test -count=1 -timeout 4h ./e2e/...

.PHONY: stress
stress: build ## let threads wait at random for STRESS (10m), on each JDK and garbage collector
	$(GO) test -count=1 -timeout 24h ./e2e -run TestStress -stress=$(STRESS) -v

.PHONY: clean
clean: ## remove what was built
	rm -rf build
	$(MAKE) -C agent clean

# ocb writes the main package of a collector once; then go build alone keeps it current, in seconds. Both
# distributions are built with the versions of the full one: what is tested is what is released, and what is compiled
# for one serves the other.
build/collector-full/.written: builder-config-full.yaml go.mod tools/go.mod
	@mkdir -p $(@D)
	scripts/retry.sh $(OCB) --skip-compilation --config=$< >$(@D)/ocb.log 2>&1 || { cat $(@D)/ocb.log; exit 1; }
	@touch $@

build/collector/.written: builder-config.yaml build/collector-full/.written
	@mkdir -p $(@D)
	scripts/retry.sh $(OCB) --skip-compilation --skip-get-modules --config=$< >$(@D)/ocb.log 2>&1 || { cat $(@D)/ocb.log; exit 1; }
	@sed 's,/build/collector-full$$,/build/collector,' build/collector-full/go.mod >$(@D)/go.mod
	@cp build/collector-full/go.sum $(@D)/go.sum
	@touch $@

build/weft-collector: build/collector/.written always
	$(GO) build -C $(<D) -ldflags='$(GO_LDFLAGS)' -o ../$(@F) .

build/weft-collector-full: build/collector-full/.written always
	$(GO) build -C $(<D) -ldflags='$(GO_LDFLAGS)' -o ../$(@F) .

build/libweft.so: always
	@scripts/need.sh cc javac
	$(MAKE) -C agent

# The extension for OpenTelemetry's Java SDK that tells the agent which span is current; its class files are for 11 and later.
build/otel/.fetched: agent/otel/pom.xml
	@scripts/need.sh mvn
	scripts/retry.sh mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

build/weft-otel.jar: build/otel/.fetched $(shell find agent/otel/src agent/otel/resources -type f)
	@scripts/need.sh javac
	rm -rf build/otel-classes
	$(JAVA_HOME)/bin/javac --release 11 -proc:none -Xlint:all -Werror -cp 'build/otel/*' -d build/otel-classes $$(find agent/otel/src -name '*.java')
	cp -r agent/otel/resources/. build/otel-classes
	$(JAVA_HOME)/bin/jar --create --file $@ -C build/otel-classes .

$(PROGRAMS): build/%: always
	$(GO) build -ldflags='$(GO_LDFLAGS) -X main.version=$(VERSION)' -o $@ ./cmd/$*

build/jaeger: tools/jaeger/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ github.com/jaegertracing/jaeger/cmd/jaeger

$(LINT): tools/lint/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: always
always:
