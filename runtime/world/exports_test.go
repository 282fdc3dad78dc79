package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/world"
)

// An export of the entry module that is no function and no object keeps the worker
// from starting, with workerd's text (asked of workerd serve); a module that only
// imports such a value does not.
func TestExportsThatAreNone(t *testing.T) {
	const wrongType = "Uncaught TypeError: Incorrect type for map entry '%s': the provided value is not of type 'function or ExportedHandler'."
	const missing = "Uncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value.\n    at the export \"%s\""
	for source, want := range map[string]string{
		`export const version = "1"; export default { fetch() {} }`:                   strings.ReplaceAll(wrongType, "%s", "version"),
		`export const b = true; export const a = null; export default { fetch() {} }`: strings.ReplaceAll(missing, "%s", "a"),
		`export default 3`:         strings.ReplaceAll(wrongType, "%s", "default"),
		`export default undefined`: strings.ReplaceAll(missing, "%s", "default"),
		`export * from "./values.js"; export default { fetch() {} }`:                                                    strings.ReplaceAll(wrongType, "%s", "n"),
		`import { n } from "./values.js"; export const o = { n }; export function f() {} export default { fetch() {} }`: "",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"worker.js": source, "values.js": `export const n = 1n;`,
			"wrangler.json": `{"name": "exports", "main": "worker.js", "compatibility_date": "2026-08-01"}`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w, err := world.Open(world.Options{Config: config.Options{Dir: dir}, Dir: t.TempDir(), CacheDir: t.TempDir()})
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s\nstarted with %v, want %q", source, err, want)
		case err == nil:
			w.Close()
		}
	}
}
