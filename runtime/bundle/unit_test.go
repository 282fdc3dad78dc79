package bundle

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// Every unit is mended: a literal that goja takes, but has otherwise or should refuse,
// has nothing about it that a look at the text could tell.
func TestUnitsAreMended(t *testing.T) {
	for code, want := range map[string]string{
		`/\-/u`:   "Invalid escape",
		`/^*/`:    "Nothing to repeat",
		`x = /a/`: "",
	} {
		_, err := (&unit{name: "u.js", low: &lowered{code: code}}).program()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", code, err, want)
		}
	}
	program, err := (&unit{name: "u.js", low: &lowered{code: `/\w/iu.test("ſ")`}}).program()
	if err != nil {
		t.Fatal(err)
	}
	vm := goja.New()
	vm.Set("RegExp", func(goja.ConstructorCall) *goja.Object {
		made := vm.NewObject()
		_ = made.Set("test", func() string { return "ours" })
		return made
	})
	if got, err := vm.RunProgram(program); err != nil || got.String() != "ours" {
		t.Errorf("/\\w/iu: %v %v", got, err)
	}
}
