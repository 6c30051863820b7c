// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import "strings"

// classObject begins the class of a lock that is the object of a class.
const classObject = "java.lang.Class<"

// initializer ends the class of a lock that threads want while another one initializes a class: com.acme.Registry.<clinit>.
const initializer = ".<clinit>"

// binsOfMap begins the classes of the bins of a ConcurrentHashMap, each of which is locked.
const binsOfMap = "java.util.concurrent.ConcurrentHashMap$"

// IsBin reports whether a lock is one of several of a ConcurrentHashMap, by its class.
func IsBin(class string) bool { return strings.HasPrefix(class, binsOfMap) }

// IsInitialization reports whether what threads wait for is the initialization of a class, by the class of the lock or by its name.
func IsInitialization(lock string) bool {
	return strings.HasSuffix(lock, initializer) || strings.HasPrefix(lock, Initialization)
}

// SimpleClass returns a class name without its package, or "?" if it is empty. For the inner classes on which locks of java.util.concurrent
// block, it returns the outer class, which users know. For com.acme.Registry.<clinit>, it is "class initialization of Registry".
func SimpleClass(class string) string {
	if class == "" {
		return "?"
	}
	if IsActivity(class) {
		return class
	}
	if of, ok := strings.CutPrefix(class, classObject); ok {
		return "Class<" + SimpleClass(strings.TrimSuffix(of, ">")) + ">"
	}
	if of, ok := strings.CutSuffix(class, initializer); ok {
		return Initialization + " of " + SimpleClass(of)
	}
	if strings.HasPrefix(class, binsOfMap) {
		return "ConcurrentHashMap"
	}
	n := withoutNumber(ArrayName(class))
	n = n[strings.LastIndexByte(n, '.')+1:]
	for _, inner := range []string{"$NonfairSync", "$FairSync", "$Sync"} {
		n = strings.TrimSuffix(n, inner)
	}
	return n
}

// ClassName returns the full name of a class as in source code: int[] for [I, java.lang.Class<int[]> for the object of that class.
func ClassName(class string) string {
	if of, ok := strings.CutPrefix(class, classObject); ok && strings.HasPrefix(of, "[") {
		return classObject + ArrayName(strings.TrimSuffix(of, ">")) + ">"
	}
	return ArrayName(class)
}

// ArrayName converts the binary name of an array class to Java syntax: [I to int[]. Other names stay.
func ArrayName(class string) string {
	element := strings.TrimLeft(class, "[")
	dimensions := len(class) - len(element)
	if dimensions == 0 || element == "" {
		return class
	}
	primitives := map[string]string{
		"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double",
	}
	name, ok := primitives[element]
	if !ok {
		name = strings.TrimSuffix(strings.TrimPrefix(element, "L"), ";")
	}
	return name + strings.Repeat("[]", dimensions)
}

// generated begins the part of a class name that differs from run to run or from class to class: classes that frameworks and the JVM make
// at run time.
var generated = []string{
	"$$Lambda", "$$SpringCGLIB$$", "$$EnhancerBySpringCGLIB$$", "$$EnhancerByCGLIB$$", "$$FastClassBySpringCGLIB$$", "$HibernateProxy$",
	"$ByteBuddy$", "$MockitoMock$", "_$$_javassist_", "_$$_jvst", "$Proxy", "GeneratedMethodAccessor", "GeneratedConstructorAccessor",
}

// withoutNumber returns the name of a generated class without what only numbers it: Order$$Lambda for Order$$Lambda$14/0x00007f, $Proxy for
// $Proxy12. Other names stay, also those of anonymous classes: Order$1 is always the same class.
func withoutNumber(class string) string {
	for i := len(class) - 3; i > 0; i-- { // hidden classes: the separator depends on who names them
		if class[i+1] == '0' && class[i+2] == 'x' && strings.IndexByte("/.+", class[i]) >= 0 {
			class = class[:i]
			break
		}
	}
	if strings.IndexByte(class, '$') < 0 && !strings.Contains(class, "Generated") {
		return class
	}
	for _, mark := range generated {
		at := strings.Index(class, mark)
		if at < 0 {
			continue
		}
		end := at + len(mark)
		if c := mark[len(mark)-1]; c != '$' && c != '_' && !isNumber(strings.TrimLeft(class[end:], "$")) {
			continue // the application's ProxyFactory
		}
		return strings.TrimRight(class[:end], "$_")
	}
	return class
}

// StableFunction returns class and method without what only numbers a generated class: the name is the same in all runs.
func StableFunction(function string) string {
	dot := strings.LastIndexByte(function, '.')
	if dot < 0 {
		return function
	}
	if class := withoutNumber(function[:dot]); len(class) < dot {
		return class + function[dot:]
	}
	return function
}

// isNumber reports whether a text has no other characters than digits.
func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }
