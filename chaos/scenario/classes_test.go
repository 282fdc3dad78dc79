package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sources(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The sources tell which classes are chats and what can be called, with values
// that fit the parameters.
func TestClasses(t *testing.T) {
	dir := sources(t, map[string]string{
		"a/worker.ts": `
import { Research as Base } from "../src/agents";
export class Research extends Base {
  @callable() extra(topic: string) {}
}`,
		"src/agents.ts": `
export abstract class Common<T extends { a: string }, U>
  extends Agent<Env, State> {
  @callable({ description: "both (of them)" })
  async look(): Promise<void> {}
}
export class Research extends Common<X> {
  @unstable_callable() public async start(topic: string, count: number, pairs: [string, number][], opts: { deep: boolean, fast: boolean }, rest?: string, more = 1) {}
  @callable() kind(kind: "a" | "b", on: boolean, untyped, ...others: string[]) {}
  @callable() odd(mode: "a, b" | 'c', { deep, fast }) {}
  notCallable(x: string) {}
}
export class Chat extends AIChatAgent<Env> {}
class Loop extends Ring {}
class Ring extends Loop {}
class OwnChat extends Agent { async onChatMessage(finish) {} }`,
		"node_modules/agents/x.ts": `class Hidden extends AIChatAgent {}`,
		"src/types.d.ts":           `declare class Typed extends AIChatAgent {}`,
	})
	got, err := Classes(dir, []string{"Research", "Chat", "OwnChat", "Loop", "Hidden", "Typed", "Nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Class{
		{Name: "Research", Callable: []Method{
			{"extra", []string{`"topic"`}},
			{"start", []string{`"topic"`, "1", "[]", "{}"}},
			{"kind", []string{`"a"`, "true", `"untyped"`}},
			{"odd", []string{`"a, b"`, "{}"}},
			{"look", nil},
		}},
		{Name: "Chat", Chat: true}, {Name: "OwnChat", Chat: true},
		{Name: "Loop"}, {Name: "Hidden"}, {Name: "Typed"}, {Name: "Nowhere"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Classes(filepath.Join(dir, "nowhere"), nil); err == nil {
		t.Error("a folder that is not there has classes")
	}
}

// A template says what the sources told, and is a scenario.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		classes []Class
		want    string
	}{
		{[]Class{{Name: "Plain"}}, `fetch("POST", "/"`},
		{[]Class{{Name: "Plain"}, {Name: "Other", Callable: []Method{{"start", []string{`"topic"`, "1"}}, {"look", nil}}}},
			"// others: Plain\n… await rpc(subject, \"start\", [\"topic\", 1]);\n    // await rpc(subject, \"look\");"},
		{[]Class{{Name: "C", Chat: true, Callable: []Method{{"look", nil}}}}, "  ai: true, …await chat(subject, \"hello\");\n    // await rpc(subject, \"look\");"},
	} {
		text := Template("shop", c.classes)
		rest := text
		for _, part := range strings.Split(c.want, "…") {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("%q is not in:\n%s", part, text)
			}
			rest = after
		}
		s, err := load(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != "shop survives" {
			t.Errorf("the scenario's name is %q", s.Name)
		}
	}
}
