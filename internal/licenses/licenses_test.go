package licenses

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
)

// legal matches the files of a module that have to be passed on with it.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// systems are those that releases are made for; modules can differ between them.
var systems = []string{"linux", "darwin", "windows"}

// The binary carries the licences of exactly what is compiled into it.
func TestLicensesAreComplete(t *testing.T) {
	want := collect(t)
	if golden.Update() {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("licenses.txt.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := Text()
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		is, should := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(is), len(should)) {
			if is[i] != should[i] {
				t.Fatalf("line %d: %q, not %q; go test ./internal/licenses -update", i+1, is[i], should[i])
			}
		}
		t.Fatalf("%d lines, not %d; go test ./internal/licenses -update", len(is), len(should))
	}
}

func collect(t *testing.T) string {
	modules := map[string]string{} // from "path version" to the folder
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "minido.dev/minido/cmd/minido")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v\n%s", system, err, &stderr)
		}
		for _, line := range strings.Split(string(out), "\n") {
			if name, dir, ok := strings.Cut(line, "\t"); ok {
				modules[name] = dir
			}
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules["github.com/gen2brain/webp v0.5.5, github.com/gen2brain/avif v0.4.4 (the codecs of pictures)"] = "../../runtime/binding/images/picture/codecs"
	modules["Go standard library"] = strings.TrimSpace(string(root))
	var names []string
	for name := range modules { // order-independent: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	var list, texts strings.Builder
	for _, name := range names {
		fmt.Fprintln(&list, name)
		entries, err := os.ReadDir(modules[name])
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			if !legal.MatchString(e.Name()) || e.IsDir() {
				continue
			}
			found = true
			b, err := os.ReadFile(filepath.Join(modules[name], e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
			fmt.Fprintf(&texts, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("-", 80), name, e.Name(), text)
		}
		if !found {
			t.Errorf("%s has no licence file in %s", name, modules[name])
		}
	}
	return "minido contains these modules:\n\n" + list.String() + texts.String()
}
