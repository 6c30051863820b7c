// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package checksum answers: are these the files of the release, and did the project release them?
package checksum

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Sums lists every file, in the form of sha256sum.
	Sums = "SHA256SUMS"
	// Signature is the signature of Sums, in the form of cosign sign-blob: ECDSA P-256 over SHA-256, ASN.1, in base64.
	Signature = Sums + ".sig"
)

// Write writes the sums of all files below dir.
func Write(dir string) error {
	var sums bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || !entry.Type().IsRegular() || name == Sums || name == Signature {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, in)
		fmt.Fprintf(&sums, "%x  %s\n", hash.Sum(nil), filepath.ToSlash(name))
		return errors.Join(err, in.Close())
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Sums), sums.Bytes(), 0o644)
}

// Sign signs the sums in dir with the private key in a PEM file, as openssl or cosign import-key-pair take it.
func Sign(dir, keyFile string) error {
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, Sums))
	if err != nil {
		return err
	}
	hash := sha256.Sum256(text)
	signature, err := ecdsa.SignASN1(rand.Reader, key, hash[:])
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Signature), []byte(base64.StdEncoding.EncodeToString(signature)), 0o644)
}

func readKey(file string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: not a PEM file", file)
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil && key.Curve == elliptic.P256() {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (want a key without a password: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256)", file, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s: want an ECDSA key on P-256, which cosign uses", file)
	}
	return key, nil
}
