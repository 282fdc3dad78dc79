package control_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"minido.dev/minido/internal/golden"
	"minido.dev/minido/runtime/control"
)

// docs/openapi.json is what the listener serves, and docs/control.md describes each
// of its paths.
func TestOpenAPI(t *testing.T) {
	b, err := json.MarshalIndent(control.OpenAPI(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Lines(t, "../../docs/openapi.json", strings.Split(string(b), "\n"))
	page, err := os.ReadFile("../../docs/control.md")
	if err != nil {
		t.Fatal(err)
	}
	for path := range control.OpenAPI()["paths"].(map[string]any) {
		if !strings.Contains(string(page), "`"+path+"`") && !strings.Contains(string(page), " "+path+"`") {
			t.Errorf("docs/control.md does not describe %s", path)
		}
	}
}
