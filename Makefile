# Copyright The Weft Authors
# SPDX-License-Identifier: Apache-2.0

# scripts/need.sh installs missing programs where possible. The JDK is the one in JAVA_HOME, otherwise that of javac in
# PATH.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

GO ?= go
TOOL := $(GO) tool -modfile=tools/go.mod
OCB := $(TOOL) builder
LINT := build/golangci-lint
VALE := build/vale
FUZZTIME ?= 200000x
STRESS ?= 10m
SEEDS ?= 100000
KILLS ?= 100
BENCHCOUNT ?= 5
GO_LDFLAGS ?= -s -w
VERSION := $(shell sed -n 's/^  version: //p' builder-config.yaml)

# A build must not require a version control system.
export GOFLAGS ?= -buildvcs=false
ifeq ($(origin JAVA_HOME),undefined)
JAVA_HOME = $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac 2>/dev/null)))
endif
export JAVA_HOME

# Each folder in cmd is a program with the same name.
PROGRAMS = $(patsubst cmd/%/,build/%,$(wildcard cmd/*/))
E2E_NEEDS = build build/standalone/weft build/jaeger build/weft-otel.jar build/weft-otel-only.jar e2e/assistants/node_modules/.installed
PACKAGES = $(shell $(GO) list ./... | grep -v '/e2e$$')

.PHONY: help
help: ## list the targets
	@scripts/help.sh $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: build/weft-collector build/libweft.so $(PROGRAMS) ## build the collector, the agent and the command into build/

.PHONY: build-full
build-full: build/weft-collector-full ## build the full distribution, with all components

.PHONY: dist
dist: ## build the agent for Linux on x86-64 and aarch64, glibc and musl, into build/dist/
	@scripts/need.sh javac
	$(MAKE) -C agent dist

.PHONY: man
man: ## write the manual pages of the command into build/man/
	$(GO) run ./cmd/weft/internal/manual build/man

.PHONY: agents
agents: dist ## pack the agents of dist without symbols into agent/bundled/, for go build -tags bundled
	@scripts/need.sh javac
	$(MAKE) -C agent agents

.PHONY: demo
demo: ## run a Java program under the agent, print why its threads wait, and serve the page
	demo/demo.sh

.PHONY: demo-jaeger
demo-jaeger: ## send the spans of the same program to a real Jaeger (its first build takes minutes)
	demo/demo.sh --jaeger

# The pictures of the documentation that a program makes.
.PHONY: cast
cast: build/standalone/weft ## record weft top at the sample program into docs/images/top.cast, for asciinema
	@scripts/need.sh javac
	@mkdir -p build/demo/classes
	$(JAVA_HOME)/bin/javac --release 11 -d build/demo/classes e2e/jvm/com/acme/orders/*.java
	$(GO) run ./demo/cast -java $(JAVA_HOME)/bin/java

# The tiers of tests; CONTRIBUTING.md says when each one runs and what it contains. No test of the gate has a tolerance, sleeps or is random.
# A tier runs two parts at once; scripts/parts.sh keeps their output and prints what each one took.
GATE := build agenttest lint-go lint-rules lint-prose lint-c lint-page unittest fuzz-briefly counttest smoketest

.PHONY: test
test: ## the gate, at most ten minutes: everything that a change must pass before it lands
	@scripts/parts.sh build/gate begin
	@scripts/parts.sh build/gate run downloads $(MAKE) --no-print-directory downloads || scripts/parts.sh build/gate report downloads
	@scripts/parts.sh build/gate run generated scripts/generated.sh $(MAKE) --no-print-directory generate || true
	@$(MAKE) --no-print-directory -j2 $(GATE:%=build/gate/%)
	@scripts/parts.sh build/gate report downloads generated $(GATE)

# A part runs after others so that nothing is compiled twice at the same time, even if those failed.
build/gate/unittest build/gate/smoketest build/gate/lint-go: build/gate/build
build/gate/fuzz-briefly: build/gate/unittest
build/gate/counttest: build/gate/build build/gate/agenttest

define TIER
build/$1/%: always
	@scripts/parts.sh build/$1 run $$* $$(MAKE) --no-print-directory $$* || true
endef
$(foreach tier,gate all weekly,$(eval $(call TIER,$(tier))))

# What the gate needs of the network, each thing once.
.PHONY: downloads
downloads: web/node_modules/.installed
	@scripts/need.sh cc javac clang-format clang-tidy promtool
	scripts/retry.sh $(GO) list -tags live -deps -test ./... >/dev/null
	$(GO) mod tidy -diff >/dev/null || true # lint-go judges the result
	scripts/retry.sh $(GO) list -C tools/house -deps -test ./... >/dev/null
	for tools in tools tools/lint tools/vale; do scripts/retry.sh $(GO) list -modfile=$$tools/go.mod -deps tool >/dev/null || exit 1; done

.PHONY: test-all
test-all: ## every night and before a release: the gate, -race, all JDKs, end to end, packages, Kubernetes, aarch64 (two hours)
	$(MAKE) --no-print-directory test
	scripts/retry.sh $(GO) list -C tools/release -deps -test ./... >/dev/null
	scripts/retry.sh $(GO) list -C tools/k8s -deps -test ./... >/dev/null
	@scripts/parts.sh build/all begin
	@$(MAKE) --no-print-directory -j2 $(ALL:%=build/all/%)
	@scripts/parts.sh build/all report $(ALL)

# Real JVMs wait a lot, so their tests run next to each other, before what needs the CPU: they are the ones that fail most.
ALL := e2e-needs build-full corpustest e2etest jvmtest lint-tools vulnerabilities racetest fuzz fuzz-histories clustertest releasetest k8stest

LIVE_PARTS := build/all/corpustest build/all/e2etest build/all/jvmtest
BUILD_PARTS := build/all/e2e-needs build/all/build-full
$(LIVE_PARTS): $(BUILD_PARTS)
$(filter-out $(BUILD_PARTS) $(LIVE_PARTS),$(ALL:%=build/all/%)): $(LIVE_PARTS)
build/all/lint-tools: build/all/releasetest build/all/k8stest

.PHONY: e2e-needs
e2e-needs: $(E2E_NEEDS)

.PHONY: test-weekly
test-weekly: ## every week: hours of stress, load and kills, and the benchmarks
	@scripts/parts.sh build/weekly begin
	@$(MAKE) --no-print-directory $(WEEKLY:%=build/weekly/%)
	@scripts/parts.sh build/weekly report $(WEEKLY)

# One after the other: they measure.
WEEKLY := stress kills soak bench bench-parts mutation

.PHONY: unittest
unittest:
	$(GO) test -timeout 1h $(PACKAGES)

# With the tests that need a JVM, a browser or real clients.
.PHONY: racetest
racetest: e2e/accessibility/node_modules/.installed
	$(GO) test -race -tags live -timeout 4h $(PACKAGES)

.PHONY: fuzz-briefly
fuzz-briefly:
	rm -rf build/fuzz/corpus
	scripts/fuzz.sh 2000x build/fuzz/corpus

.PHONY: agenttest
agenttest:
	@scripts/need.sh cc javac
	$(MAKE) -C agent test

# Counts of events in real JVMs.
.PHONY: counttest
counttest: build/libweft.so
	$(MAKE) -C agent counttest

# A program under the agent, its spans, the page and weft record, on each JDK; and what needs only the built collector and promtool: that each
# configuration starts or says why not, and what each rule for Prometheus evaluates to.
SMOKE := TestSmoke|TestRequiredJDKsAreInstalled|TestEachConfigurationIsTested|TestConfigurationErrors|TestRules|TestEachRuleIsTested
.PHONY: smoketest
smoketest: build
	@scripts/need.sh promtool
	$(GO) test -count=1 -timeout 30m ./e2e -run '$(SMOKE)'

.PHONY: jvmtest
jvmtest: build build/weft-otel.jar dist
	$(MAKE) -C agent jvmtest disttest

# The tests read files of other modules, which go's cache of results does not see.
.PHONY: k8stest
k8stest: build-full ## check the Helm chart and the Kustomize example, and run the collectors with their configurations
	scripts/retry.sh $(GO) mod download -C tools/apiserver k8s.io/kubernetes
	scripts/retry.sh $(GO) list -C tools/k8s -deps -test ./... >/dev/null
	$(GO) test -C tools/k8s -count=1 ./...

.PHONY: k8s-apiserver
k8s-apiserver: build/kube-apiserver build/etcd ## apply all manifests to a real API server (its first build takes minutes)
	scripts/retry.sh $(GO) list -C tools/k8s -deps -test ./... >/dev/null
	$(GO) test -C tools/k8s -count=1 -run TestServer -v ./... -apiserver

.PHONY: chart
chart: ## package the Helm chart into build/
	cd tools/k8s && ../../scripts/retry.sh $(GO) build -o ../../build/helm helm.sh/helm/v4/cmd/helm
	build/helm package deploy/helm/weft --destination build

.PHONY: check
check: ## the inner loop: format, vet, unit tests of Go and C
	@$(MAKE) --no-print-directory --output-sync=target -j2 agenttest unittest-briefly

.PHONY: unittest-briefly
unittest-briefly:
	@unformatted=$$($(TOOL) gofumpt -extra=group_params,clothe_returns -l $(wildcard *.go) $(filter-out build/,$(wildcard */)) | \
		grep -v /node_modules/); test -z "$$unformatted" || { echo "not formatted by gofumpt -extra: $$unformatted"; exit 1; }
	$(GO) vet -tags live ./...
	$(GO) test $(PACKAGES)

.PHONY: lint
lint: lint-go lint-rules lint-prose lint-c lint-page lint-tools ## lint Go, C, the page and all prose

# The lock of golangci-lint is that of the machine; another run must not fail this one.
LINT_RUN := run --allow-parallel-runners

.PHONY: lint-go
lint-go: $(LINT)
	$(GO) mod tidy -diff
	$(LINT) config verify
	$(LINT) $(LINT_RUN) ./...

# The rules of the project that no linter covers.
.PHONY: lint-rules
lint-rules: $(LINT)
	$(GO) -C tools/house mod tidy -diff
	cd tools/house && ../../$(LINT) $(LINT_RUN) --config=../../.golangci.yml ./...
	$(GO) test -C tools/house -count=1 ./...
	$(GO) test -C tools/mutation -count=1 ./...

.PHONY: lint-prose
lint-prose: $(VALE)
	$(VALE) --output=line $$(scripts/prose.sh)

.PHONY: lint-c
lint-c:
	@scripts/need.sh clang-format clang-tidy
	$(MAKE) -C agent lint

.PHONY: lint-page
lint-page: web/node_modules/.installed
	cd web && npm --silent run check

# The modules of packages and of Kubernetes, with many dependencies.
.PHONY: lint-tools
lint-tools: $(LINT)
	$(GO) -C tools/release mod tidy -diff
	cd tools/release && ../../$(LINT) $(LINT_RUN) --config=../../.golangci.yml ./...
	cd tools/k8s && ../../$(LINT) $(LINT_RUN) ./...

.PHONY: vulnerabilities
vulnerabilities: ## compare all dependencies with the databases of known vulnerabilities
	scripts/vulnerabilities.sh

.PHONY: sbom
sbom: build/collector-full/.written ## write the list of all dependencies (CycloneDX) to build/weft.cdx.json
	scripts/sbom.sh build/weft.cdx.json

.PHONY: generate
generate: web/dist/app.js ## regenerate component metadata, the wire tables and their C header, and the page
	$(GO) generate ./...

.PHONY: web
web: web/node_modules/.installed ## check and test the page, and build web/dist
	cd web && npm --silent run check && npm --silent run build

web/dist/app.js: web/node_modules/.installed always
	cd web && npm --silent run build

web/node_modules/.installed: web/package.json web/package-lock.json
	@scripts/need.sh npm
	cd web && ../scripts/retry.sh npm --loglevel=error ci
	@touch $@
	$(MAKE) --no-print-directory dashboards

.PHONY: dashboards
dashboards: config/grafana/node_modules/.installed ## generate the Grafana dashboards and validate them against its schema
	npm --prefix config/grafana run --silent build

config/grafana/node_modules/.installed: config/grafana/package-lock.json
	@scripts/need.sh npm
	scripts/retry.sh npm --prefix config/grafana ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# A client of the Model Context Protocol in another language, for a test.
e2e/assistants/node_modules/.installed: e2e/assistants/package-lock.json
	@scripts/need.sh npm
	cd e2e/assistants && ../../scripts/retry.sh npm --loglevel=error ci --ignore-scripts
	@touch $@

# The checker of accessibility, which tests run in the page.
e2e/accessibility/node_modules/.installed: e2e/accessibility/package-lock.json
	@scripts/need.sh npm
	cd e2e/accessibility && ../../scripts/retry.sh npm --loglevel=error ci --ignore-scripts
	@touch $@

# BENCH are flags of bench/speed: -sections collector, -rounds 3. CRISP is the folder of a checkout of its repository, for two rows more.
.PHONY: bench
bench: build build-full build/jaeger build/peers/.fetched build/real/fetched build/tomcat/fetched ## compare Weft with its peers and write bench/speed/results.txt (half an hour; BENCH='-h' for parts)
	$(GO) run ./bench/speed -write bench/speed/results.txt -rounds $(BENCHCOUNT) $(BENCH)

.PHONY: bench-parts
bench-parts: ## measure the hot paths in Go and in the agent one by one
	@scripts/bench.sh $(BENCHCOUNT)
	@$(MAKE) --no-print-directory -C agent bench

.PHONY: bench-page
bench-page: web ## measure the page with a million intervals, 5,000 threads, 100,000 virtual ones, and 10,000 stacks, in Chromium (BENCH_INTERVALS for more)
	@scripts/need.sh chromium
	@$(GO) test -run '^$$' -bench "BenchmarkPage|BenchmarkFlameGraph" -benchtime 1x -timeout 20m ./internal/threadview/devserver

.PHONY: bench-agent
bench-agent: build/libweft.so ## compare the agent with no agent and with the flight recorder in real JVMs (20 minutes)
	@$(MAKE) --no-print-directory -C agent bench-agent

.PHONY: fuzz
fuzz: ## run each fuzz target with FUZZTIME inputs (200000x)
	scripts/fuzz.sh $(FUZZTIME)

# HISTORIES are flags of the test: -for=10m -file=matrix-jdk17.jfr.
.PHONY: fuzz-histories
fuzz-histories: ## damage recordings after each event and in thousands of ways, for half an hour (HISTORIES='-for=2h' for longer)
	$(GO) test -count=1 -timeout 0 ./cmd/weft/internal/historyfuzz -seed=$$(date +%Y%m%d) -mutations=10000 -for=30m $(HISTORIES)

.PHONY: clustertest
clustertest: ## simulate agents, collectors and disks that fail, with SEEDS seeds (100000)
	$(GO) test -count=1 -timeout 0 ./internal/threadtest/cluster -seeds=$(SEEDS)

.PHONY: mutation
mutation: build ## put deliberate faults into a copy, one at a time, and see whether the tests of the gate notice (an hour)
	$(GO) run -C tools/mutation . $(MUTATION)

.PHONY: e2e
e2e: $(E2E_NEEDS) ## test real JVMs with the agent, the built collector and a real Jaeger
	$(MAKE) --no-print-directory e2etest

# LIVE are flags of e2e/live: -run TestKafka, -count 10.
.PHONY: e2etest
e2etest:
	@scripts/need.sh javac mvn promtool amtool prometheus-alertmanager
	$(GO) run ./e2e/live $(LIVE)

.PHONY: corpus
corpus: build/libweft.so build/weft build/weft-otel-only.jar ## record the runs whose names contain RUN (all), each until its rules hold, for the tests of ./corpus
	@scripts/need.sh javac mvn
	$(GO) test -count=1 -timeout 4h -v ./corpus -record -run 'TestRecord/$(RUN)'

.PHONY: corpustest
corpustest: build/libweft.so build/weft build/weft-otel-only.jar ## record the runs anew and judge them by their rules; those that break one are kept in build/failed
	@scripts/need.sh javac mvn
	$(GO) test -count=1 -timeout 4h -v ./corpus -anew -run 'TestRecord/$(RUN)'

.PHONY: release-snapshot
release-snapshot: release-snapshot-pieces ## build everything that a release consists of, into build/release/

.PHONY: releasetest
releasetest: release-snapshot ## test the pieces of a release: install and run each one
	@scripts/need.sh javac mvn openssl rpm unzip nsenter
	$(GO) -C tools/release test -count=1 -timeout 1h ./...

.PHONY: stress
stress: build ## run threads that wait at random for STRESS (10m), on each JDK and garbage collector
	$(GO) run ./e2e/live -run TestStress -limit 24h -- -stress=$(STRESS)

.PHONY: kills
kills: $(E2E_NEEDS) ## kill agents, collectors and backends KILLS times (100)
	$(GO) run ./e2e/live -run Kill -count $(KILLS)

# SOAK are flags of bench/soak: -only overload, -scale 0.1.
.PHONY: soak
soak: build ## run a collector under load and compare it with its goals (40 minutes; SOAK='-h' for parts)
	$(GO) run ./bench/soak $(SOAK)

.PHONY: clean
clean: ## remove build output
	rm -rf build
	$(MAKE) -C agent clean

# ocb generates the main package of a collector once; after that, go build keeps it current in seconds. Both distributions
# use the dependency versions of the full one: the tested code is the released code, and they share compiled packages.
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

# The command as users get it: one static file with the agents for all platforms.
build/standalone/weft: agents
	CGO_ENABLED=0 $(GO) build -trimpath -tags bundled,grpcnotrace -ldflags='$(GO_LDFLAGS) -X main.version=$(VERSION)' -o $@ ./cmd/weft

build/libweft.so: always
	@scripts/need.sh cc javac
	$(MAKE) -C agent

# The extension for OpenTelemetry's Java SDK that starts the agent and reports the current span to it; its class files are for 11
# and later.
build/otel/.fetched: agent/otel/pom.xml
	@scripts/need.sh mvn
	scripts/retry.sh mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

build/otel-classes/.compiled: build/otel/.fetched $(shell find agent/otel/src agent/otel/resources -type f)
	@scripts/need.sh javac
	rm -rf $(@D)
	$(JAVA_HOME)/bin/javac --release 11 -proc:none -Xlint:all -Werror -cp 'build/otel/*' -d $(@D) $$(find agent/otel/src -name '*.java')
	cp -r agent/otel/resources/. $(@D)
	@touch $@

# The jar has the agent for all platforms. The other one takes no cross compiler; both prefer libweft.so in their folder, so it
# is enough to try out a change of the agent.
DISTS := $(foreach platform,x86_64 aarch64 musl-x86_64 musl-aarch64,build/dist/libweft-linux-$(platform).so)
$(DISTS): dist ;

build/weft-otel.jar: build/otel-classes/.compiled $(DISTS) agent/THIRD-PARTY.txt
	@scripts/need.sh llvm-strip
	rm -rf build/otel-native
	mkdir -p build/otel-native/META-INF/native
	cp LICENSE agent/THIRD-PARTY.txt build/otel-native/META-INF/
	for lib in $(DISTS); do llvm-strip -o build/otel-native/META-INF/native/$${lib##*/} $$lib || exit 1; done
	$(JAVA_HOME)/bin/jar --create --file $@ -C build/otel-classes META-INF -C build/otel-classes io -C build/otel-native META-INF

build/weft-otel-only.jar: build/otel-classes/.compiled
	$(JAVA_HOME)/bin/jar --create --file $@ -C build/otel-classes META-INF -C build/otel-classes io

# What bench/speed compares Weft with.
build/peers/.fetched: bench/speed/peers/pom.xml
	@scripts/need.sh mvn
	scripts/retry.sh mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

build/real/fetched: e2e/real/pom.xml
	@scripts/need.sh mvn
	scripts/retry.sh mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

build/tomcat/fetched: e2e/tomcat/pom.xml
	@scripts/need.sh mvn
	scripts/retry.sh mvn -q -B -f $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(@D)
	@touch $@

$(PROGRAMS): build/%: always
	$(GO) build -ldflags='$(GO_LDFLAGS) -X main.version=$(VERSION)' -o $@ ./cmd/$*

build/jaeger: tools/jaeger/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ github.com/jaegertracing/jaeger/cmd/jaeger

build/kube-apiserver: tools/apiserver/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ k8s.io/kubernetes/cmd/kube-apiserver

build/etcd: tools/apiserver/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ go.etcd.io/etcd/server/v3

$(LINT): tools/lint/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VALE): tools/vale/go.mod
	scripts/retry.sh $(GO) build -modfile=$< -o $@ github.com/vale-cli/vale/v3/cmd/vale

include tools/release/release.mk

.PHONY: always
always:
