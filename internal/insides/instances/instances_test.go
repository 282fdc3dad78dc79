package instances

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// wazero's instances are as expected; where one member is otherwise, that is refused
// by name. docs/insides.md lists the members.
func TestInstancesAreKnown(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	oneFunction := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b")
	m, err := r.Instantiate(ctx, oneFunction)
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(m, ""); err != nil {
		t.Error(err)
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "insides.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range looked {
		if err := Check(m, l.name); err == nil || !strings.Contains(err.Error(), "wasm.ModuleInstance."+l.name+" is not as expected") {
			t.Errorf("without %s: %v", l.name, err)
		}
		if want := "- `wasm.ModuleInstance." + l.name + "`: " + l.as; !strings.Contains(string(doc), want) {
			t.Errorf("docs/insides.md lacks %q", want)
		}
	}
}
