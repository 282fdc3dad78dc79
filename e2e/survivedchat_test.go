package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
)

func chatSystems() []system {
	with := slices.Concat(chatMoments(0, 1, 5, 9, 15, 25, 39, chatWords), providerMoments())
	return []system{
		{"Chat recovery, @cloudflare/ai-chat 0.12.2", "chat", beginChatSet("chat"), with},
		{"Chat recovery, @cloudflare/ai-chat 0.10.2", "chat-0.10", beginChatSet("chat-0.10"), with},
		{"Chat recovery, @cloudflare/ai-chat 0.4.4", "chat-0.4", beginChatSet("chat-0.4"), slices.Concat(lostMoments(0, 1, 5), chatMoments(12, 15, 20, 25, 39, chatWords))},
	}
}

func beginChatSet(name string) func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
	return func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
		p, o := provider(t), newTool(t)
		vars := []string{"KEEP_ALIVE_MS:700", "OPENAI_BASE_URL:" + p.URL() + "/v1", "ANTHROPIC_BASE_URL:" + p.URL() + "/v1", "TOOL_URL:" + o.url}
		return &stageSet{lives: beginOn(t, withAI(t, name, p.URL(), start), name, nil, vars...), tool: o, provider: p}
	}
}

// withAI gives a server a model behind env.AI. wrangler has none without an
// account: there a worker beside the fixture's answers env.AI.run().
func withAI(t *testing.T, name, url string, start func(*testing.T, ...string) server) func(*testing.T, ...string) server {
	if reflect.ValueOf(start).Pointer() != reflect.ValueOf(wranglerDev).Pointer() {
		return func(t *testing.T, flags ...string) server {
			t.Helper()
			return start(t, append(slices.Clone(flags), "--ai-url", url)...)
		}
	}
	dir := t.TempDir()
	front, beside := filepath.Join(dir, "wrangler.json"), filepath.Join(dir, "ai.json")
	return func(t *testing.T, flags ...string) server {
		t.Helper()
		write(t, front, withoutAI(t, name))
		write(t, beside, map[string]any{"name": "ai", "main": "ai.js", "compatibility_date": "2026-08-01", "vars": map[string]string{"URL": url}})
		if err := os.WriteFile(filepath.Join(dir, "ai.js"), []byte(aiWorker), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = slices.Clone(flags)
		flags[slices.Index(flags, "--config")+1] = front
		return start(t, append(flags, "--config", beside)...)
	}
}

const aiWorker = `import { WorkerEntrypoint } from "cloudflare:workers";
export class AI extends WorkerEntrypoint {
  async run(model, input) {
    const response = await fetch(this.env.URL + "/ai/run/" + model, { method: "POST", body: JSON.stringify(input) });
    return input.stream ? response.body : response.json();
  }
}
export default { fetch: () => new Response() };
`

// withoutAI is a fixture's configuration with that worker in the place of its
// ai binding, and with absolute paths.
func withoutAI(t *testing.T, name string) (config map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture(t, name), "wrangler.jsonc"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err = hujson.Standardize(text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	delete(config, "ai")
	// The providers' package hands an AbortSignal to env.AI, which there is an RPC.
	config["compatibility_flags"] = append(config["compatibility_flags"].([]any), "enable_abortsignal_rpc")
	config["services"] = []any{map[string]any{"binding": "AI", "service": "ai", "entrypoint": "AI"}}
	config["main"] = filepath.Join(fixture(t, name), config["main"].(string))
	if alias, ok := config["alias"].(map[string]any); ok {
		for from, to := range alias {
			alias[from] = filepath.Join(fixture(t, name), to.(string))
		}
	}
	return config
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (o *subject) conversing() chatting { return chatting{o.lives, o.provider} }

// ask sends a message whose answer is cut, or comes later over the same socket.
func (o *subject) ask(text string, body map[string]any) *agentrpc.Client {
	o.t.Helper()
	client := o.dial("support-chat/" + o.name)
	o.background(func(ctx context.Context) {
		answer, err := client.ChatWith(ctx, text, body)
		if err == nil && !strings.Contains(words(0, chatWords), answer.Text) {
			o.t.Errorf("%s: a client saw %q", o.name, answer.Text)
		}
	})
	return client
}

// answering stands still before word n of an answer, the client having seen the
// words before it.
func answering(provider string, n int) func(o *subject) {
	return func(o *subject) {
		o.t.Helper()
		hold := o.provider.Hold(n)
		o.t.Cleanup(hold.Release)
		o.gates = append(o.gates, held{release: hold.Release})
		client := o.ask("hello", map[string]any{"provider": provider})
		o.standsAt(hold.Reached())
		if n > 0 && provider != "openai" {
			last := fmt.Sprintf(`\"w%d \"`, n-1)
			until(o.t, o.name+" has seen word "+last, func() bool { return o.conversing().saw(client, last) })
		}
	}
}

func (o *subject) standsAt(reached <-chan struct{}) {
	o.t.Helper()
	if err := wait.Channel(o.t.Context(), clock.Real{}, limit, o.name+" stands still", reached); err != nil {
		o.t.Fatal(err)
	}
}

// chatMoments are those at which an answer is cut and made whole.
func chatMoments(cuts ...int) []moment {
	const class = "SupportChat"
	whole := func(o *subject) { o.checkWhole("user assistant") }
	moments := []moment{{name: "at rest, before its first turn", class: class,
		stand: func(o *subject) { o.by("support-chat", "inspect")() },
		check: func(o *subject) {
			o.blows = 0
			o.ask("hello", nil)
			o.checkWhole("user assistant")
		}}}
	for _, n := range cuts {
		name := fmt.Sprintf("after %d words of an answer", n)
		switch n {
		case 0:
			name = "before the first word of an answer"
		case 1:
			name = "after the first word of an answer"
		case chatWords:
			name = "between the last word of an answer and its end"
		}
		moments = append(moments, moment{name: name, class: class, stand: answering("workersai", n), check: whole})
	}
	return append(moments,
		moment{name: "at rest, after its turn", class: class,
			stand: func(o *subject) {
				o.ask("hello", nil)
				o.checkWhole("user assistant")
			},
			check: func(o *subject) {
				o.blows = 0
				o.checkWhole("user assistant")
			}},
		moment{name: "in the continuation of a cut answer", class: class, stand: answering("workersai", 15),
			again: func(o *subject) func() {
				hold := o.provider.Hold(11)
				o.t.Cleanup(hold.Release)
				o.gates = append(o.gates, held{release: hold.Release})
				return func() { o.standsAt(hold.Reached()) }
			}, check: whole})
}

// providerMoments are those of the other providers, and of tools.
func providerMoments() []moment {
	const class = "SupportChat"
	return []moment{
		{name: "after 15 words of an answer of OpenAI's", class: class, stand: answering("openai", 15), check: func(o *subject) { o.checkWhole("user assistant") }},
		{name: "after 15 words of an answer of Anthropic's", class: class, stand: answering("anthropic", 15), check: func(o *subject) {
			if o.blows == 0 {
				o.checkWhole("user assistant")
				return
			}
			o.checkWhole("user assistant user assistant")
		}},
		{name: "in a tool's call", class: class,
			stand: func(o *subject) { o.at("weather", func() { o.ask(`use weather {"city":"Rome"}`, nil) }) },
			check: func(o *subject) {
				o.checkWhole("user assistant")
				var books chatBooks
				call(o.t, o.dial("support-chat/"+o.name), &books, "inspect")
				want := "weather begin, weather begin, weather end"
				if o.blows == 0 {
					want = "weather begin, weather end"
				}
				if got := strings.Join(books.Calls, ", "); got != want {
					o.t.Errorf("the tool's calls: %s, want %s", got, want)
				}
			},
			bug: "a turn of which fewer than ten chunks were stored is done again, with the tool that it had called"},
	}
}

// lostMoments are those at which the first generation loses an answer.
func lostMoments(cuts ...int) []moment {
	var moments []moment
	for _, n := range cuts {
		moments = append(moments, moment{name: fmt.Sprintf("%d words into an answer, too few to be stored", n), class: "SupportChat", stand: answering("workersai", n),
			check: func(o *subject) {
				o.conversing().stays(o.name, func(m []chatMessage) bool { return roles(m) == "user" })
			},
			bug: "an answer that was cut before ten chunks were stored is lost, and its turn is not done again"})
	}
	return moments
}

// checkWhole waits until the answer is whole and checks that it is there once,
// and that the hook ran once for each blow.
func (o *subject) checkWhole(wanted string) {
	o.t.Helper()
	client := o.dial("support-chat/" + o.name)
	messages := untilCall(o.t, client, "conversation", func(m []chatMessage) bool { return len(answered(m)) >= len(words(0, chatWords)) })
	books := untilCall(o.t, client, "inspect", func(b chatBooks) bool { return b.Runs == 0 })
	if answered(messages) != words(0, chatWords) || roles(messages) != wanted || len(books.Recoveries) != o.blows {
		o.t.Errorf("%s, want %s; the answer is %q; after %d blows the books are %+v", roles(messages), wanted, answered(messages), o.blows, books)
	}
}
