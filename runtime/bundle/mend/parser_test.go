package mend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// ECMA-262, section 15.3: a parameter of an arrow function may be an array pattern
// with defaults, whatever stands before it.
func TestArrayPatternParameters(t *testing.T) {
	for code, want := range map[string]string{
		"((x, [y = 1] = []) => x + y)(1)":                                          "2",
		"((x, [y = 1] = [5]) => x + y)(1)":                                         "6",
		"((x, { z = [(a, [b = 2] = [], c = 3) => a + b + c] } = {}) => z[0](1))()": "6",
		"[1].map((x, i, [y = \")\"] = []) => x + i + y)[0]":                        "2",
		"(((x, [y = (a, [b = 1] = []) => b] = [], ...z) => y() + z.length))(1)":    "1",
	} {
		v, err := runRepaired(code)
		if err != nil || v.String() != want {
			t.Errorf("%s: got %v, %v, want %s", code, v, err, want)
		}
	}
}

// runRepaired evaluates a script that goja may refuse, as units are compiled.
func runRepaired(code string) (goja.Value, error) {
	tree, err := goja.Parse("", Parseable(code), parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	if err := mend(tree, mender{}); err != nil {
		return nil, err
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return nil, err
	}
	return goja.New().RunProgram(program)
}

// ECMA-262, section 14.3.3: elements of array patterns have defaults wherever the
// pattern stands, and one of its own besides.
func TestElementsWithDefaults(t *testing.T) {
	for code, want := range map[string]string{
		`{ const { z: [y = 1] = [] } = {}; y }`:                                                             "1",
		`(({ z: [y = 1] = [] }) => y)({ z: [2] })`:                                                          "2",
		`((x, { z: [y = x, [w = y] = []] = [] } = {}) => w)(3)`:                                             "3",
		`(function ({ z: [y = 1] = [] }) { return y })({})`:                                                 "1",
		`{ class A { static m({ z: [y = 1] = [] }) { return y } } A.m({}) }`:                                "1",
		`(({ a: [b = [1, 2].map(({ c: [d = 1] = [] }) => d).length] = [] }) => b)({})`:                      "2",
		`{ let r; for (const { z: [y = 1] = [] } of [{}]) r = y; r }`:                                       "1",
		`{ let r; try { throw {} } catch ({ z: [y = () => 1] = [] }) { r = y.name } r }`:                    "y",
		`{ const { a: [{ b: [c = 1] = [] } = {}, , ...d] = [] } = { a: [{}, 1, 2] }; c + d[0] }`:            "3",
		`{ const f = ({ z: [y = 1] = [] }) => y; String(f).includes("$element") ? "wrapped" : "as it is" }`: "wrapped",
	} {
		if v, err := runRepaired(code); err != nil || v.String() != want {
			t.Errorf("%s: got %v, %v, want %s", code, v, err, want)
		}
	}
}

// Many places take no more parses than one: the parser is asked again for what
// nests, and once to see that all is well.
func TestManyRepairs(t *testing.T) {
	var code strings.Builder
	for i := range repairMax + 100 {
		fmt.Fprintf(&code, "{ const { z: [y%d = 1] = [] } = {};\n}\nclass A%d {\n  get = 1;\n  static async = 2;\n}\n", i, i)
	}
	if v, err := runRepaired(code.String() + "new A7().get + A8.async"); err != nil || v.String() != "3" {
		t.Fatal(v, err)
	}
	if v, err := runRepaired("var get = 1;\n get = 2;\nclass A {\n  get = 3;\n}\nget + new A().get"); err != nil || v.String() != "5" {
		t.Fatal(v, err)
	}
}
