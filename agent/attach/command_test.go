// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMainOf(t *testing.T) {
	for command, want := range map[string]string{
		"java Main": "Main",
		"/jdk/bin/java -Xmx1g -cp a:b com.acme.Main x y": "com.acme.Main",
		"java -jar /opt/orders.jar -jar x":               "/opt/orders.jar",
		"java --class-path a -Dx=y Main -m":              "Main",
		"java -p mods -m acme/com.acme.Main":             "acme/com.acme.Main",
		"java --module=acme":                             "acme",
		"java --add-opens a/b=c Main.java":               "Main.java",
		"java @args Main":                                "",
		"java -cp":                                       "",
		"java -jar":                                      "",
		"java":                                           "",
		"/usr/bin/jshell -R x":                           "jshell",
	} {
		assert.Equal(t, want, mainOf(strings.Fields(command)), command)
	}
	assert.Empty(t, mainOf(nil))
	assert.Len(t, mainOf([]string{"java", strings.Repeat("x", 2*maxName)}), maxName)
}

func TestMainIn(t *testing.T) {
	for _, c := range []struct{ javaCommand, fromCommand, want string }{
		{"com.acme.Main x y", "com.acme.Main", "com.acme.Main"},
		{"/opt/my orders.jar x", "/opt/my orders.jar", "/opt/my orders.jar"},
		{"/opt/my orders.jar", "/opt/my", "/opt/my"},
		{"com.acme.Main x", "com.acme", "com.acme.Main"},
		{"com.acme.Main x", "", "com.acme.Main"}, // from a file with arguments
		{"", "jshell", "jshell"},
		{"", "", ""},
	} {
		assert.Equal(t, c.want, mainIn(c.javaCommand, c.fromCommand), c)
	}
}

func TestParseCommand(t *testing.T) {
	assert.Equal(t, []string{"java", "", "a b"}, parseCommand([]byte("java\x00\x00a b\x00")))
	assert.Empty(t, parseCommand(nil))
}

func TestVersionIn(t *testing.T) {
	assert.Equal(t, "17.0.15", versionIn([]byte("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.15\"\nJAVA_VERSION_DATE=\"2025\"\n")))
	assert.Empty(t, versionIn([]byte("MODULES=\"x\"\n")))
}
