// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ordered reads the field to sort by, and returns what sorts rows. Fields are named as in JSON, nested ones with dots; without a name or a
// default, the order stays. Rows come in the order of their names, which equal ones keep. Texts, ids and times ascend and other numbers descend,
// unless requested otherwise.
func ordered[T any](p *params, without string) func(rows []T) {
	field := cmp.Or(p.text("sort"), without)
	order := p.choice("order", "", "asc", "desc")
	path, kind := fieldOf(reflect.TypeFor[T](), field)
	if kind == reflect.Invalid {
		if field != "" {
			p.fail("sort", "unknown field %q", shorten(field))
		}
		return func([]T) {}
	}
	down := order == "desc" || order == "" && kind != reflect.String && field != without && field != "id" && field != "from"
	return func(rows []T) {
		keys := make([]key, len(rows))
		for i := range rows {
			keys[i] = path.key(reflect.ValueOf(&rows[i]).Elem())
			keys[i].at = i
		}
		slices.SortStableFunc(keys, func(a, b key) int {
			c := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
			if down {
				c = -c
			}
			return c
		})
		old := slices.Clone(rows)
		for i := range keys {
			rows[i] = old[keys[i].at]
		}
	}
}

type key struct {
	number float64
	text   string
	at     int
}

// fieldPath leads from a row to a field: indices of fields, and of list elements.
type fieldPath []int

// of returns the field of a row, or false if a pointer on the way is nil or a list too short.
func (path fieldPath) of(v reflect.Value) (reflect.Value, bool) {
	for _, i := range path {
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		switch {
		case v.Kind() != reflect.Slice:
			v = v.Field(i)
		case i < v.Len():
			v = v.Index(i)
		default:
			return v, false
		}
	}
	return v, true
}

func (path fieldPath) key(row reflect.Value) key {
	v, ok := path.of(row)
	if !ok {
		return key{}
	}
	switch {
	case v.Kind() == reflect.String:
		return key{text: v.String()}
	case v.CanInt():
		return key{number: float64(v.Int())}
	case v.CanUint():
		return key{number: float64(v.Uint())}
	case v.CanFloat():
		return key{number: v.Float()}
	case v.Kind() == reflect.Bool && v.Bool():
		return key{number: 1}
	}
	return key{}
}

// fieldOf finds a field by its name. Its kind is Invalid if it does not exist or cannot be compared.
func fieldOf(t reflect.Type, name string) (path fieldPath, kind reflect.Kind) {
	for word := range strings.SplitSeq(name, ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Struct:
			sub, ft := jsonField(t, word)
			if sub == nil {
				return nil, reflect.Invalid
			}
			path, t = append(path, sub...), ft
		case reflect.Slice:
			i, err := strconv.ParseUint(word, 10, 8)
			if err != nil {
				return nil, reflect.Invalid
			}
			path, t = append(path, int(i)), t.Elem()
		default:
			return nil, reflect.Invalid
		}
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Pointer, reflect.Map:
		return nil, reflect.Invalid
	}
	return path, t.Kind()
}

// jsonField finds a field of a struct or of its embedded structs.
func jsonField(t reflect.Type, name string) (fieldPath, reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && jsonName(f) == name {
			return f.Index, f.Type
		}
	}
	return nil, nil
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
