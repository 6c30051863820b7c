// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package waits answers: what does a stopped thread wait for, and which code of the application waits? It reads the state of the thread, the
// class of the object it waits for, and the stack.
//
// The rules are data: table.go has kinds by class and by frame, libraries.go lists the packages of the JDK and of libraries. A new kind
// of pool is a row, and so is a new framework.
package waits
