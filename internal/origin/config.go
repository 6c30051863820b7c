// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package origin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.opentelemetry.io/collector/config/configopaque"
)

// Config says which keys carriers are signed with. Its zero value has none.
type Config struct {
	// Key has one key or several, separated by white space. The first one signs, each of them is accepted.
	Key configopaque.String `mapstructure:"key"`
	// KeyFile is a file with such keys, instead of Key. It is read when the collector starts.
	KeyFile string `mapstructure:"key_file"`

	_ struct{} // prevents unkeyed literals
}

const (
	leastKey = 32      // characters: 16 random bytes in hexadecimal
	maxKeys  = 8       // an old and a new one are enough
	maxFile  = 1 << 14 // bytes
)

// Validate reports keys that cannot be used.
func (c *Config) Validate() error {
	if c.Key != "" && c.KeyFile != "" {
		return errors.New("key, key_file: set one of them")
	}
	_, err := parse("key", string(c.Key))
	return err
}

// Load returns the keys, nil for none.
func (c *Config) Load() (*Keys, error) {
	name, text := "key", string(c.Key)
	if c.KeyFile != "" {
		name = c.KeyFile
		var err error
		if text, err = read(c.KeyFile); err != nil {
			return nil, fmt.Errorf("carriers: key_file: %w", err)
		}
	}
	secrets, err := parse(name, text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("carriers: %w", err)
	case len(secrets) > 0:
		return newKeys(secrets), nil
	case c.KeyFile != "":
		return nil, fmt.Errorf("carriers: key_file: %s has no key; write one, such as the output of: openssl rand -hex 32", c.KeyFile)
	default:
		return nil, nil
	}
}

func read(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if len(text) > maxFile {
		return "", fmt.Errorf("%s has more than %d bytes; it should have a key on each line", path, maxFile)
	}
	return string(text), err
}

// parse returns the keys of a text. Its errors do not contain them.
func parse(name, text string) ([]string, error) {
	keys := strings.Fields(text)
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("%s: %d keys, use at most %d", name, len(keys), maxKeys)
	}
	for i, key := range keys {
		if len(key) < leastKey {
			return nil, fmt.Errorf("%s: key %d has %d characters, use at least %d, such as the output of: openssl rand -hex 32", name, i+1, len(key), leastKey)
		}
	}
	return keys, nil
}
