package scenario

import (
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/internal/clock"
)

// A package that takes timers when it is loaded finds them, what is drawn is the same in each evaluation, and
// fast-check gets a seed, whatever else a program configures.
func TestSurroundingsOfPackages(t *testing.T) {
	dir := sources(t, map[string]string{
		"node_modules/fast-check/package.json": `{"name":"fast-check","version":"4.0.0","type":"module","main":"index.js"}`,
		"node_modules/fast-check/index.js": `const set = setTimeout, clear = clearTimeout;
let parameters = {};
export const configureGlobal = (p) => { parameters = p; };
export const readConfigureGlobal = () => parameters;
export const timers = () => typeof set + " " + typeof clear;
export default { configureGlobal, readConfigureGlobal, timers };`,
		"a.chaos.ts": `import { scenario } from "minido:chaos";
import fc, { configureGlobal, readConfigureGlobal, timers } from "fast-check";
const first = JSON.stringify(fc.readConfigureGlobal());
configureGlobal({ numRuns: 7 });
const second = JSON.stringify(readConfigureGlobal());
fc.configureGlobal({ seed: 5 });
export default scenario([timers(), first, second, readConfigureGlobal().seed, Math.random()].join(" | "), { async drive() {} });`,
	})
	var names []string
	for range 2 {
		s, err := Load(filepath.Join(dir, "a.chaos.ts"), dir, "", clock.Real{})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, s.Name)
	}
	if want := `function function | {"seed":1} | {"seed":1,"numRuns":7} | 5 | 0.`; !strings.HasPrefix(names[0], want) || names[0] != names[1] {
		t.Errorf("%q, want %q and the same number behind it", names, want)
	}
}
