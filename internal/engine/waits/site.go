// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Config adds packages to the lists of this package. Each name is a prefix of class names, such as "com.acme.framework.".
type Config struct {
	Libraries    []string // that are not the application
	Applications []string // that are, although a list of libraries contains them
}

// Rules determine what threads wait for. They are immutable.
type Rules struct {
	libraries, applications []string
}

// NewRules returns the rules with additional packages.
func NewRules(cfg Config) *Rules {
	return &Rules{libraries: slices.Concat(libraries, cfg.Libraries), applications: cfg.Applications}
}

// Site is the code that waits at a stack.
type Site struct {
	Function string // class and method of the first frame of the application, or of the best frame if there is none; empty: not known
	File     string
	Line     int    // 0: not known
	Frame    int    // the index of its line in the text of the stack
	Entry    string // class and method of the library through which the application waits; empty: it waits itself. Of a pool also Function itself
	Lock     string // what the source calls the lock, such as "Inventory.lock"; empty: not known
	Own      bool   // Function is of the application
}

// origin is whose code a frame is.
type origin uint8

const (
	fromWaiting  origin = iota // the JDK's waiting, waking or starting itself
	fromPlatform               // the rest of the JDK
	fromLibrary                // a library or a generated class
	fromApplication
)

// waiting are the classes whose methods are never the caller that users look for.
var waiting = []string{
	"java.lang.Object.", "java.lang.Thread.", "java.lang.VirtualThread.", "java.util.concurrent.locks.", "jdk.internal.", "sun.misc.Unsafe.",
}

func hasPrefix(name string, list []string) bool {
	return slices.ContainsFunc(list, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// origin returns whose code a function is.
func (r *Rules) origin(function string) origin {
	switch {
	case hasPrefix(function, r.applications):
		return fromApplication
	case hasPrefix(function, waiting):
		return fromWaiting
	case hasPrefix(function, platform):
		return fromPlatform
	case hasPrefix(function, r.libraries), slices.ContainsFunc(generated, func(part string) bool { return strings.Contains(function, part) }):
		return fromLibrary
	}
	return fromApplication
}

// stack is a parsed stack.
type stack struct {
	frames []jvmthread.Frame
	names  []string // class and method of the frames
	lines  []int    // of the frames in the text
	at     int      // index of the site
	from   origin   // of the site
}

// function returns class and method of a frame.
func (s *stack) function(i int) string { return s.names[i] }

// inside returns the index of the first frame that is not part of the library's code below the site.
func (s *stack) inside() int {
	if s.from == fromApplication {
		return s.at
	}
	return len(s.frames)
}

// parse parses a stack and finds its site: the first frame of the application; else, the first one of a library; else, the first that is
// not part of the waiting itself; else, the first.
func (r *Rules) parse(text string) (s stack) {
	n := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if f, ok := symbols.ParseFrame(line); ok {
			name := f.Method
			if f.Class != "" {
				name, _ = symbols.FunctionOf(line)
			}
			s.frames, s.names, s.lines = append(s.frames, f), append(s.names, name), append(s.lines, n)
		}
		n++
	}
	for i := range s.frames {
		if from := r.origin(s.function(i)); from > s.from {
			s.at, s.from = i, from
		}
		if s.from == fromApplication {
			break
		}
	}
	return s
}

// Site finds the code that waits in the text of a stack. Without a frame of the application, it is the library's method that a rule knows, or
// that calls the JDK's method that a rule knows. An idle worker waits where a rule says: a frame of the application only started it.
func (r *Rules) Site(text string) Site {
	s := r.parse(text)
	if len(s.frames) == 0 {
		return Site{}
	}
	var site Site
	first, class := s.at, ""
	if s.awaitsCondition() {
		class = conditionClass // which the rules of queues want
	}
	switch kind, frame := s.match(class); {
	case frame >= 0 && !kind.Idle() && r.origin(s.function(frame)) < s.from && frame < s.at:
		site.Entry = s.function(s.entry(frame))
	case frame >= 0:
		s.at = frame
		if kind == jvmthread.WaitPool { // which the entry names
			site.Entry = s.function(frame)
		}
	case s.at > 0:
		site.Entry = s.function(s.at - 1)
	}
	f := &s.frames[s.at]
	site.Function, site.File, site.Line, site.Frame = s.function(s.at), f.File, max(f.Line, 0), s.lines[s.at]
	if site.Lock = inSource(symbols.LockName(text)); site.Lock == "" && hasPrefix(s.function(0), classLoading) {
		site.Lock = "class loading" + s.loader()
	}
	site.Own = s.from == fromApplication && s.at == first
	return site
}

// awaitsCondition reports whether the stack may be of a thread that waits for a condition: brief stacks begin with the method that does.
func (s *stack) awaitsCondition() bool {
	return !hasPrefix(s.function(0), waiting) ||
		slices.ContainsFunc(s.names, func(name string) bool { return strings.HasPrefix(name, conditionClass+".await") })
}

// loader returns " by AppClassLoader": the class loader that loads a class for a thread, which is that of the last frame of the methods
// that ask each other. It is empty if all are of classes that loaders extend.
func (s *stack) loader() string {
	name := ""
	for i := range s.frames {
		if !strings.HasPrefix(s.frames[i].Method, "loadClass") {
			break
		}
		if class := s.frames[i].Class; class != "java.lang.ClassLoader" && class != "jdk.internal.loader.BuiltinClassLoader" {
			name = class[strings.LastIndexAny(class, ".$")+1:]
		}
	}
	if name == "" {
		return ""
	}
	return " by " + name
}

// inSource returns the name of a lock as the source has it. Javac invents fields for what inner classes and lambdas capture: Table$1.val$guard is the
// local variable guard; the outer instance (this$0) and the arguments of a lambda (arg$1) have no name.
func inSource(name string) string {
	dot := strings.LastIndexByte(name, '.')
	field := name[dot+1:]
	switch {
	case strings.HasPrefix(field, "this$"), strings.HasPrefix(field, "arg$"), strings.Contains(name, "$$Lambda"):
		return ""
	case dot > 0 && strings.HasPrefix(field, "val$"):
		return "local " + strings.TrimPrefix(field, "val$")
	}
	return name
}

// entry returns the index of the frame through which the library at a frame was entered: the outermost of its class and its inner classes below
// the site.
func (s *stack) entry(frame int) int {
	class := outer(s.frames[frame].Class)
	for f := s.at - 1; f > frame; f-- {
		if outer(s.frames[f].Class) == class {
			return f
		}
	}
	return frame
}

// outer returns the name of the outermost class that contains a class.
func outer(class string) string {
	name, _, _ := strings.Cut(class, "$")
	return name
}

// Kind returns what a thread in a state waits for, given the class of the object and the text of the stack; either may be empty.
func (r *Rules) Kind(state jvmthread.State, class, text string) jvmthread.Wait {
	if int(state) >= len(own) {
		return jvmthread.WaitNone
	}
	if own[state].decide {
		s := r.parse(text)
		if kind, _ := s.match(class); kind != jvmthread.WaitNone {
			return kind
		}
	}
	return own[state].kind
}
