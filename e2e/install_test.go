package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A fixture links what others have of its packages: what is being installed there is not
// complete, and what has gone is left to npm.
func TestFixturesLinkWhatIsComplete(t *testing.T) {
	dir := t.TempDir()
	write := func(path string, content any) {
		t.Helper()
		path = filepath.Join(dir, path)
		text, is := content.(string)
		if !is {
			data, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lock := func(names ...string) any {
		packages := map[string]any{}
		for _, name := range names {
			packages["node_modules/"+name] = map[string]string{"version": "1.0.0", "integrity": "sha512-" + name}
		}
		return map[string]any{"lockfileVersion": 3, "packages": packages}
	}
	script, err := os.ReadFile("../fixtures/install.mjs")
	if err != nil {
		t.Fatal(err)
	}
	write("install.mjs", string(script))
	write("done/node_modules/.package-lock.json", lock("whole", "gone"))
	write("done/node_modules/whole/index.js", "whole")
	write("other/.installing/node_modules/.package-lock.json", lock("half"))
	write("other/.installing/node_modules/half/index.js", "half")
	write("new/package-lock.json", lock("whole", "gone", "half"))
	cmd := exec.Command("node", "install.mjs", "new")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NPM=true") // a program that installs nothing
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var made []string
	entries, err := os.ReadDir(filepath.Join(dir, "new/node_modules"))
	for _, e := range entries {
		made = append(made, e.Name())
	}
	if want := []string{".package-lock.json", "whole"}; err != nil || !slices.Equal(made, want) {
		t.Errorf("node_modules has %q, not %q: %v", made, want, err)
	}
	var told struct{ Packages map[string]any }
	data, err := os.ReadFile(filepath.Join(dir, "new/node_modules/.package-lock.json"))
	if err == nil {
		err = json.Unmarshal(data, &told)
	}
	if err != nil || len(told.Packages) != 1 || told.Packages["node_modules/whole"] == nil {
		t.Errorf("npm is told that there are %v: %v", told.Packages, err)
	}
}
