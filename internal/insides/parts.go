package insides

import (
	"fmt"
	"sync"
)

// part is one dependence on what is no interface.
type part struct {
	name  string
	of    string // whose inside it is
	uses  string // what is done with it
	lost  string // what is otherwise without it
	learn func(l *look)
}

// parts are all of them, in the order in which they build on each other.
var parts = []part{
	{"virtual machine", "goja", "error texts, the names in stacks, stack overflows that code can catch, interrupts of native functions, built-ins that are amended in place",
		"errors have goja's own texts and stacks its names, a stack overflow ends the isolate, a native that calls natives is not interrupted, a class of the platform that is called without new constructs, and an amended built-in is another function",
		func(l *look) { learnGoja(l) }},
	{"values", "goja", "JSON, clones, the stack of an error before code reads it, which objects were never a key of a WeakMap", "JSON and clones use goja's API, which is several times slower, and stacks have goja's names",
		func(l *look) { learnPlain(l) }},
	{"frames", "goja", "the names in stacks", "stacks have goja's names", func(l *look) { learnFrames(l) }},
	{"maps", "Go", "objects that JSON.parse makes in one allocation", "JSON.parse makes maps one by one, which is slower", func(l *look) { learnMapNames(l) }},
	{"views", "goja", "resizable buffers, and views of them", "a maxByteLength is refused", func(l *look) { learnViews(l) }},
	{"typed arrays", "goja", "Float16Array", "there is no Float16Array", func(l *look) { learnHalves(l) }},
	{"iterators", "goja", "what an inspector shows of iterators of Maps and Sets", "it does not show their remaining items", func(l *look) { learnIterators(l) }},
	{"names of properties", "goja", "what an inspector shows of arrays besides their items", "it reads all names, which takes long for a long array", func(l *look) { learnNamed(l) }},
	{"regular expressions", "goja", "the source text of patterns; matches in one call if no code can observe them", "a RegExp is read through its properties each time, and its source is goja's", func(l *look) { learnRegexps(l) }},
	{"promises", "goja", "promises that natives create and await", "each needs two functions and another promise for its waiter, which is slower", func(l *look) { learnPromises(l) }},
	{"who waits", "goja", "the awaiting async functions in the stacks of errors", "stacks name them only as far as goja does, and not for rejected calls through a stub", func(l *look) { learnWaiters(l) }},
	{"thenables", "goja", "the frame in which the then() of a thenable is called", "it is called in the frame of the previous job, so AsyncLocalStorage may have another value there", func(l *look) { learnThenables(l) }},
	{"instructions", "goja", "a limit before strings are joined and properties copied by `...`, spare room after a string that is appended to", "a program can join strings until the heap's limit ends its isolate, and each `s += piece` copies s", func(l *look) { new(joining).learn(l) }},
	{"async functions", "goja", "calls and awaits with fewer allocations", "each call makes two functions that settle its promise, which is slower", func(l *look) { new(asyncs).learn(l) }},
	{"arguments", "goja", "functions that read only the number of their arguments", "they make an object with all arguments, which is slower", func(l *look) { new(counting).learn(l) }},
	{"iterations", "goja", "loops and patterns over arrays", "they make an object for each item, which is slower", func(l *look) { new(iterations).learn(l) }},
	{"enumerations", "goja", "for-in over ordinary objects", "it reads all names of the prototypes, which is slower", func(l *look) { new(enumerations).learn(l) }},
	{"closures", "goja", "functions in one allocation", "each evaluated function takes nine allocations, which is slower", func(l *look) { new(closures).learn(l) }},
	{"native functions", "goja", "native functions in one allocation", "each takes a dozen allocations, which is slower", func(l *look) { learnNatives(l) }},
	{"built-in methods", "goja", "built-in methods in one allocation, when a program first touches them", "all are made and guarded in every isolate", func(l *look) { learnBuiltins(l) }},
	{"coercions", "goja", "the order in which an assignment pattern refuses undefined and null", "it does so before it evaluates the target of its first property", func(l *look) { new(coercions).learn(l) }},
	{"loop", "goja", "numbers, comparisons, jumps, calls, elements and properties without a call of goja for each instruction; BigInts in one allocation; a size limit of BigInts in operators", "programs run two to three times slower, and a helper limits the right operand of an operator", func(l *look) { new(loop).learn(l) }},
	{"programs", "goja", "compiled programs for later processes", "each process compiles what it evaluates, which is half of its start", func(l *look) { new(writing).learn(l) }},
}

// Unknown tells of each part that is not as expected what is lost, as a line for a
// log. Safe for concurrent use; its list must not be changed.
var Unknown = sync.OnceValue(func() (lines []string) {
	for _, p := range parts {
		l := looking("")
		if p.learn(l); !l.Known() {
			lines = append(lines, fmt.Sprintf("the layout of %s's %s is unknown (%s is not as expected): %s", p.of, p.name, l.Lost, p.lost))
		}
	}
	return lines
})
