package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"minido.dev/minido/chaos/check"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/internal/killpoint"
)

var update = flag.Bool("update", false, "write the tables of docs/chaos.md anew")

// The tables of docs/chaos.md that name checkers, faults and labels are what the
// registries say.
func TestTablesOfTheDocs(t *testing.T) {
	const file = "../../docs/chaos.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, want := range map[string]string{"checkers": checkers(), "faults": faults(), "labels": labels()} {
		begin, end := fmt.Sprintf("<!-- begin %s: go test ./chaos/cli -run TestTablesOfTheDocs -update -->\n", name), "<!-- end "+name+" -->"
		_, rest, found := strings.Cut(text, begin)
		got, _, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no table between %q and %q", file, begin, end)
		}
		if got == want {
			continue
		}
		if !*update {
			t.Errorf("the table of %s is not what the registry says; run with -update. It should be:\n%s", name, want)
		}
		text = strings.Replace(text, begin+got+end, begin+want+end, 1)
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkers() string {
	var b strings.Builder
	b.WriteString("| checker | judges |\n|---|---|\n")
	for _, c := range check.All() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Name(), c.Doc().Judges)
	}
	b.WriteString("\n| checker | invariant | what must hold |\n|---|---|---|\n")
	for _, c := range check.All() {
		for _, i := range c.Doc().Invariants {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", c.Name(), i.Name, i.Text)
		}
	}
	return b.String()
}

func faults() string {
	var b strings.Builder
	b.WriteString("| fault | what happens |\n|---|---|\n")
	for _, k := range fault.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(strings.Join(k.Forms, "`, `"), "|", `\|`), k.Does)
	}
	return b.String()
}

func labels() string {
	var b strings.Builder
	b.WriteString("| kind | the effect |\n|---|---|\n")
	for _, k := range killpoint.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Kind, k.Effect)
	}
	return b.String()
}
