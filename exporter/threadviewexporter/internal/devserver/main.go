// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Devserver serves the page and its API over simulated sessions, for those who work on the page: one that has ended, one that goes on, one with a
// deadlock, and with -intervals one of that size.
//
//	go run ./exporter/threadviewexporter/internal/devserver -page web/dist -intervals 1000000
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/server"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func run() error {
	address := flag.String("listen", "localhost:8090", "address to listen on")
	folder := flag.String("page", "web/dist", "folder with the page")
	prefix := flag.String("prefix", "/", "path under which the page is")
	intervals := flag.Int("intervals", 0, "adds a session of about so many intervals, with 500 threads")
	maxBytes := flag.Int64("max-bytes", store.DefaultMaxBytes, "limit of the store")
	more := flag.Int("more", 0, "adds so many sessions that have ended")
	pathIntervals := flag.Int("path-intervals", 0, "intervals that one critical path may look at; 0: as many as usual")
	traceURL := flag.String("trace-url", "http://localhost:16686/trace/{trace_id}?uiFind={span_id}", "template of links to traces")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	store := store.New(*maxBytes)
	var page fs.FS
	if _, err := os.Stat(*folder); err == nil {
		page = os.DirFS(*folder)
	}
	view := server.New(store, server.Config{
		Version: "dev", Prefix: *prefix, Page: page, TraceURL: *traceURL, TraceWindow: 10 * time.Second,
		PathIntervals: *pathIntervals,
	})
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: view.Handler(), ReadHeaderTimeout: 5 * time.Second}

	finished(store, 1, "finished")
	deadlocked(store)
	for i := range *more {
		short(store, i)
	}
	go live(ctx, store)
	if *intervals > 0 {
		go big(store, *intervals)
	}
	context.AfterFunc(ctx, func() {
		view.Close()
		_ = server.Close()
	})
	fmt.Printf("http://%s%s\n", listener.Addr(), *prefix)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
