// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Devserver serves the page and its API over simulated sessions for development: a finished one, a live one, one with a deadlock, one with locks
// of java.util.concurrent, one with requests, with -intervals one of that size, with -virtual two of as many virtual threads, with -threads a
// service with as many threads, and with -stacks one that waits at as many stacks.
//
//	go run ./internal/threadview/devserver -page web/dist -intervals 1000000
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

	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
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
	prefix := flag.String("prefix", "/", "path prefix of the page")
	intervals := flag.Int("intervals", 0, "add a session with 500 threads and about this many intervals")
	virtual := flag.Int("virtual", 0, "add two sessions with this many virtual threads: short ones, and ones that wait all the time")
	threads := flag.Int("threads", 0, "add a service with this many platform threads, at least 40")
	rounds := flag.Int("rounds", 40, "tasks of each worker of the service")
	stacks := flag.Int("stacks", 0, "add a session that waits at this many stacks")
	maxBytes := flag.Int64("max-bytes", store.DefaultMaxBytes, "size limit of the store")
	empty := flag.Bool("empty", false, "serve no sessions, but refused agents, until a request to /begin adds one")
	withLive := flag.Bool("live", true, "add a session that continues")
	withRecurring := flag.Bool("recurring", false, "add a session in which threads wait for a lock twice a second")
	more := flag.Int("more", 0, "add this many finished sessions")
	pathIntervals := flag.Int("path-intervals", 0, "maximum number of intervals for a critical path (0 for the default)")
	traceURL := flag.String("trace-url", "http://localhost:16686/trace/{trace_id}?uiFind={span_id}", "template for links to traces")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	store := store.New(*maxBytes, nil)
	var page fs.FS
	if _, err := os.Stat(*folder); err == nil {
		page = os.DirFS(*folder)
	}
	board := new(entrance.Board)
	view := server.New(store, server.Config{
		Entrance: board,
		Version:  "dev", Prefix: *prefix, Page: page, TraceURL: *traceURL, TraceWindow: 10 * time.Second,
		PathIntervals: *pathIntervals,
	})
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: view.Handler(), ReadHeaderTimeout: 5 * time.Second}
	if *empty {
		refused(board)
		server.Handler = beginning(view.Handler(), func() { finished(store, 1, "finished") })
	} else {
		finished(store, 1, "finished")
		deadlocked(store)
		locks(store)
		requests(store)
	}
	for i := range *more {
		short(store, i)
	}
	if *withLive && !*empty {
		go live(ctx, store)
	}
	if *withRecurring {
		go recurring(ctx, store)
	}
	if *intervals > 0 {
		go big(store, *intervals)
	}
	if *virtual > 0 {
		crowd(store, 6, "short-virtual", *virtual, true)
		crowd(store, 7, "waiting-virtual", *virtual, false)
	}
	if *threads > 0 {
		service(store, *threads, *rounds)
	}
	if *stacks > 0 {
		manyStacks(store, *stacks)
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
