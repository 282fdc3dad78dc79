package minidotest

import (
	"testing"
)

// An ES module has no module and no exports, as in wrangler's bundles: code
// that asks for them takes the branch of ES modules. CommonJS has both, and what asks for them without import or export is CommonJS.
func TestNoModuleInESM(t *testing.T) {
	w := NewWorldFrom(t, map[string]string{
		"worker.js": `
import "./script.js";
import common from "./common.cjs";
import { late } from "./late.js";
import Universal, * as star from "./universal.js";
const asked = [typeof module, typeof exports];
export default { fetch: () => Response.json({ asked, script: globalThis.asked, common, late, star: Object.keys(star), universal: Universal.kind }) };`,
		"script.js":  `globalThis.asked = [typeof module, typeof exports];`,
		"common.cjs": `module.exports = [typeof module, typeof exports];`,
		"late.js":    `await null; export const late = [typeof module, typeof exports];`,
		"universal.js": `
export * from "./more.js";
const Universal = { kind: "ES module" };
if (typeof module === "object" && module.exports) module.exports = { kind: "CommonJS" };
if (typeof exports !== "undefined") exports.kind = "CommonJS";
export default Universal;`,
		"more.js":       `export const more = 1;`,
		"wrangler.json": `{"name": "test", "main": "worker.js", "compatibility_date": "2026-08-01"}`,
	}, Options{})
	const none = `["undefined","undefined"]`
	want := `{"asked":` + none + `,"script":["object","object"],"common":["object","object"],"late":` + none + `,"star":["default","more"],"universal":"ES module"}`
	if got := w.Do("GET", "http://localhost/", "").Text(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
