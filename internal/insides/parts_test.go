package insides

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dop251/goja"
)

var update = flag.Bool("update", false, "write docs/insides.md anew")

// All parts are where they are expected.
func TestInsidesAreKnown(t *testing.T) {
	for _, line := range Unknown() {
		t.Error(line)
	}
	for name, known := range map[string]bool{
		"the virtual machine": TheGoja().Known, "values": ThePlainLayout().Known, "maps": TheMapNames().Known, "typed arrays": TheHalves().Known,
		"views": TheViews().Known, "iterators": len(TheIterators().Places) == 2, "names": NamedOffset().Known, "regular expressions": theRegexpLayout().ok, "frames": FramesKnown(), "promises": ThePromises().Known, "native functions": theNatives().known, "built-in methods": theBuiltins().Known, "thenables": TheThenables().Known,
		"async functions": instrumented() && theAsyncs.known, "arguments": instrumented() && theCounting.known, "iterations": instrumented() && theIterations.known, "enumerations": instrumented() && theEnumerations.known, "closures": instrumented() && theClosures.known, "coercions": instrumented() && theCoercions.known, "loop": instrumented() && theLoop.known, "programs": instrumented() && theWriting.known,
	} {
		if !known {
			t.Errorf("%s: not known", name)
		}
	}
}

func instrumented() bool { return Instrument(nil) }

// Whatever one member is otherwise, the parts that look at it know that they do not
// know it, no other does, and none reads or writes a place that it has not checked.
func TestAnyMemberMayBeWrong(t *testing.T) {
	for _, p := range parts {
		sound := looking("")
		p.learn(sound)
		if len(sound.Asked) == 0 {
			t.Errorf("%s: nothing is looked at", p.name)
		}
		for _, entry := range sound.Asked {
			member, _, _ := strings.Cut(entry, ": ")
			l := looking(member)
			if p.learn(l); l.Known() || l.Lost != member {
				t.Errorf("%s without %s: lost %q", p.name, member, l.Lost)
			}
		}
	}
}

// The parts that are learnt with a wrong member say so.
func TestUnknownParts(t *testing.T) {
	if in := learnGoja(looking("goja.vm.stack")); in.Known {
		t.Error("the virtual machine is known")
	}
	if learnKnownPlain(looking("goja.baseObject.values")).Known || learnFrames(looking("goja.StackFrame.funcName")) {
		t.Error("values or frames are known")
	}
	if learnKnownMapNames(looking("the group of a map")).Known || learnViews(looking("goja.typedArrayObject.offset")).Known {
		t.Error("maps or views are known")
	}
	if learnKnownHalves(looking("goja.typedArray.less")).Known || len(learnIterators(looking("goja.orderedMapIter.cur")).Places) > 0 {
		t.Error("typed arrays or iterators are known")
	}
	if learnNamed(looking("goja.baseObject.propNames")).Known || learnRegexps(looking("goja.regexpObject.standard")).ok {
		t.Error("names or regular expressions are known")
	}
	if learnKnownPromises(looking("goja.Promise.handled")).Known {
		t.Error("promises are known")
	}
	if learnKnownNatives(looking("goja.nativeFuncObject.construct")).known {
		t.Error("native functions are known")
	}
	if b := learnBuiltins(looking("goja.objectTemplate.props")); b.Known || b.Number(goja.New().Get("Math").(*goja.Object), "max") >= 0 {
		t.Error("built-in methods are known")
	}
	if learnKnownThenables(looking("goja.Runtime.jobQueue")).Known {
		t.Error("thenables are known")
	}
	j := &joining{}
	if j.learn(looking("goja._add")); j.known {
		t.Error("instructions are known")
	}
	a := &asyncs{}
	if a.learn(looking("goja._loadSuper")); a.known {
		t.Error("async functions are known")
	}
	c := &counting{}
	if c.learn(looking("goja.vm.args")); c.known {
		t.Error("arguments are known")
	}
	lp := &loop{}
	if lp.learn(looking("goja._op_lt")); lp.known {
		t.Error("the loop is known")
	}
	w := &writing{}
	if w.learn(looking("goja.newRegexp")); w.known {
		t.Error("programs are known")
	}
	it := &iterations{}
	if it.learn(looking("goja.iterNext")); it.known {
		t.Error("iterations are known")
	}
}

const listBegins, listEnds = "<!-- list: go test ./internal/insides -update -->\n", "<!-- end of list -->"

// docs/insides.md lists each part with what is looked at.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "insides.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), listBegins)
	_, after, ends := strings.Cut(rest, listEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for the list", path)
	}
	var b strings.Builder
	for _, p := range parts {
		l := looking("")
		p.learn(l)
		fmt.Fprintf(&b, "\n### %s%s (%s)\n\n- For: %s.\n- Without: %s.\n- Looked at:\n", strings.ToUpper(p.name[:1]), p.name[1:], p.of, p.uses, p.lost)
		for _, entry := range l.Asked {
			what, as, _ := strings.Cut(entry, ": ")
			fmt.Fprintf(&b, "  - `%s`: %s\n", what, as)
		}
	}
	want := before + listBegins + b.String() + "\n" + listEnds + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the package looks at: run go test ./internal/insides -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
