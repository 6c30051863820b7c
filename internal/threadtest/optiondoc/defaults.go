// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package optiondoc

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"
)

var duration = regexp.MustCompile(`^(.*?[a-z])(0[ms])+$`)

const own = "github.com/weft-otel/weft/"

// collect adds the options of a struct and their defaults, as a YAML file has them, below a level.
func collect(config reflect.Value, level string, defaults map[string]string) {
	for i := range config.NumField() {
		name, flags, _ := strings.Cut(config.Type().Field(i).Tag.Get("mapstructure"), ",")
		v := config.Field(i)
		if v.CanAddr() && v.CanInterface() {
			if method := v.Addr().MethodByName("GetOrInsertDefault"); method.IsValid() { // of configoptional.Optional
				v = method.Call(nil)[0].Elem()
			}
		}
		isOurs := v.Kind() == reflect.Struct && strings.HasPrefix(v.Type().PkgPath()+"/", own)
		switch {
		case flags == "squash":
			if isOurs {
				collect(v, level, defaults)
			}
		case name == "" || name == "-":
		case isOurs:
			collect(v, level+name+"::", defaults)
		default:
			defaults[level+name] = show(v)
		}
	}
}

// show returns a default as a README has it, empty for nothing.
func show(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return duration.ReplaceAllString(value.String(), "$1") // 1m, not 1m0s
	case fmt.Stringer:
		if v.IsZero() {
			return ""
		}
		return value.String()
	}
	switch v.Kind() {
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			all = append(all, show(v.Index(i)))
		}
		if all == nil {
			return ""
		}
		return "[" + strings.Join(all, ", ") + "]"
	case reflect.Map, reflect.Pointer, reflect.Struct:
		return ""
	}
	return fmt.Sprint(v.Interface())
}
