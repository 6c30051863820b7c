// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// themes returns the opaque colors of both themes by name.
func themes(t *testing.T) map[string]map[string][3]float64 {
	t.Helper()
	text, err := os.ReadFile("src/style/theme.css")
	require.NoError(t, err)
	color := regexp.MustCompile(`--([a-z0-9_-]+): #([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2});`)
	light, dark, found := strings.Cut(string(text), `:root[data-theme="dark"]`)
	require.True(t, found)
	all := map[string]map[string][3]float64{"light": {}, "dark": {}}
	for theme, part := range map[string]string{"light": light, "dark": dark} {
		for _, match := range color.FindAllStringSubmatch(part, -1) {
			var c [3]float64
			for i := range c {
				var n int
				_, err := fmt.Sscanf(match[2+i], "%x", &n)
				require.NoError(t, err)
				v := float64(n) / 255 // sRGB to linear light, as WCAG defines it
				if v <= 0.04045 {
					c[i] = v / 12.92
				} else {
					c[i] = math.Pow((v+0.055)/1.055, 2.4)
				}
			}
			all[theme][match[1]] = c
		}
	}
	return all
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG: 1 to 21.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Each pair of text and ground that the style sheets use has the contrast that AA requires.
func TestTextHasContrast(t *testing.T) {
	const least = 4.5
	grounds := map[string][]string{
		"text": {"surface", "surface-2", "surface-3", "accent-soft", "row-chosen"}, "text-2": {"surface", "surface-2", "surface-3", "warn-soft"},
		"text-3": {"surface", "surface-2"}, "accent": {"surface", "surface-2", "accent-soft"}, "surface": {"accent"}, "bad": {"surface", "bad-soft"},
		"warn": {"surface", "warn-soft"}, "good": {"surface"}, "hot": {"surface", "accent-soft"},
		"on-hold": {"hold-0", "hold-1", "hold-2", "hold-3", "hold-4", "hold-5", "hold-6", "hold-7", "hold-several"},
		"flame-text": {
			"flame-wait-0", "flame-wait-1", "flame-wait-2", "flame-worse", "flame-better", "flame-same",
		},
		"on-blocked": {"state-blocked"}, "on-deadlocked": {"state-deadlocked"},
		"kind-handoff": {"surface"}, "kind-notify": {"surface"},
	}
	for theme, colors := range themes(t) {
		for name, on := range grounds {
			for _, ground := range on {
				assert.GreaterOrEqual(t, contrast(colors[name], colors[ground]), least, "%s: %s on %s", theme, name, ground)
			}
		}
		for name, color := range colors {
			state, ok := strings.CutPrefix(name, "state-")
			if !ok || state == "dead" { // too low for a text
				continue
			}
			text, own := colors["on-"+state]
			if !own {
				text = colors["on-state"]
			}
			assert.GreaterOrEqual(t, contrast(text, color), least, "%s: text on %s", theme, state)
		}
	}
}

// What means that something is wrong, or leads the eye, stands out from the ground of the lanes. Voluntary waits, running and the lack of
// history are pale on purpose, so that they do not compete with it; their lanes have a name, a height and a pattern of their own.
func TestMarksHaveContrast(t *testing.T) {
	const least = 3
	for theme, colors := range themes(t) {
		for name, color := range colors {
			switch name {
			case "state-blocked", "state-deadlocked", "state-reentering", "state-queued", "path", "gap", "mark-timeout", "accent", "text-3":
			default:
				if !strings.HasPrefix(name, "kind-") {
					continue
				}
			}
			assert.GreaterOrEqual(t, contrast(color, colors["surface"]), float64(least), "%s: %s", theme, name)
		}
	}
}

// deficiencies are simulations of color blindness in linear light (Machado, Oliveira and Fernandes, 2009; severity 1).
var deficiencies = map[string][9]float64{
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// lab is CIELAB of linear light, for the white of sRGB.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 216./24389 {
			return math.Cbrt(v)
		}
		return (24389./27*v + 16) / 116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(luminance(c))
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	a, b = lab(a), lab(b)
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// With any color blindness, threads that are stopped against their will differ from those that run or wait for work, and still from each other,
// which their patterns do, too (src/timeline/palette.ts). The rest differs by height and pattern.
func TestStatesDifferWithColorBlindness(t *testing.T) {
	const least, patterned = 20., 10. // of CIELAB; about 2 can just be distinguished side by side
	stopped := []string{"blocked", "deadlocked", "reentering"}
	for theme, colors := range themes(t) {
		for deficiency, m := range deficiencies {
			seen := func(state string) (out [3]float64) {
				c := colors["state-"+state]
				for i := range out {
					out[i] = min(1, max(0, m[3*i]*c[0]+m[3*i+1]*c[1]+m[3*i+2]*c[2]))
				}
				return out
			}
			for i, a := range stopped {
				for _, b := range stopped[i+1:] {
					assert.GreaterOrEqual(t, distance(seen(a), seen(b)), patterned, "%s, %s: %s and %s", theme, deficiency, a, b)
				}
				for _, b := range []string{"runnable", "waiting", "parked", "sleeping"} {
					assert.GreaterOrEqual(t, distance(seen(a), seen(b)), least, "%s, %s: %s and %s", theme, deficiency, a, b)
				}
			}
		}
	}
}
