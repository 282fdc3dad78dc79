package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"minido.dev/minido/chaos/agentrpc"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

const chatWords = 40 // of a whole answer: w0 to w39

// provider starts a scripted provider that lives as long as the test.
func provider(t *testing.T) *upstream.Server {
	t.Helper()
	threads := sched.NewThreads(clock.Real{})
	s, err := upstream.Start(upstream.Options{Scheduler: threads, Script: upstream.Words(chatWords)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// chatting is a chat fixture that talks to a provider.
type chatting struct {
	*lives
	provider *upstream.Server
}

func beginChat(t *testing.T, name string) chatting {
	p := provider(t)
	return chatting{beginWith(t, name, []string{"--ai-url", p.URL()},
		"KEEP_ALIVE_MS:700", "TOOL_MS:60000", "OPENAI_BASE_URL:"+p.URL()+"/v1", "ANTHROPIC_BASE_URL:"+p.URL()+"/v1"), p}
}

// say sends a message to an agent, given as in the URL, and does not wait for
// the answer: it will be cut.
func (c chatting) say(agent, text string, body map[string]any) *agentrpc.Client {
	c.t.Helper()
	client := c.dial(agent)
	threads := sched.NewThreads(clock.Real{})
	ctx, cancel := context.WithCancel(context.Background())
	threads.Go("chat", func() {
		if answer, err := client.ChatWith(ctx, text, body); err == nil {
			c.t.Errorf("%s: the answer was to be cut, and came: %q", agent, answer.Text)
		}
	})
	c.t.Cleanup(func() {
		cancel()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			c.t.Error(err)
		}
	})
	return client
}

// cut brings an agent to where its answer stands still before word n, its
// client having seen all before it.
func (c chatting) cut(agent, text string, n int, body map[string]any) *upstream.Hold {
	c.t.Helper()
	hold := c.provider.Hold(n)
	c.t.Cleanup(hold.Release)
	client := c.say("support-chat/"+agent, text, body)
	if err := wait.Channel(c.t.Context(), clock.Real{}, limit, agent+" stands still", hold.Reached()); err != nil {
		c.t.Fatal(err)
	}
	if n > 0 {
		last := fmt.Sprintf(`\"w%d \"`, n-1)
		until(c.t, agent+" has seen word "+last, func() bool { return c.saw(client, last) })
	}
	return hold
}

// saw says whether a client was sent a text.
func (c chatting) saw(client *agentrpc.Client, text string) bool {
	who := fmt.Sprintf(`"who":%q`, client.Who())
	return c.seen.has(func(all string) bool {
		for line := range strings.Lines(all) {
			if strings.Contains(line, who) && strings.Contains(line, text) {
				return true
			}
		}
		return false
	})
}

type chatMessage struct {
	Role  string
	Parts []struct{ Type, Text, State string }
}

func (m chatMessage) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func roles(messages []chatMessage) string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Role)
	}
	return strings.Join(out, " ")
}

// answered is all that the assistant has said.
func answered(messages []chatMessage) string {
	var b strings.Builder
	for _, m := range messages {
		if m.Role == "assistant" {
			b.WriteString(m.text())
		}
	}
	return b.String()
}

func words(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

type chatBooks struct {
	Turns, Runs int
	Calls       []string
	Recoveries  []struct{ Provider, Text, Kinds, Data, Body, ClientTools string }
}

// Each provider's answer is cut before its first word, before the agent has
// stored anything of it, in the middle, and between the last word and the end.
// One SIGKILL cuts them all; each is whole afterwards, once.
func TestChatCutEverywhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chat", "chat-0.10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := beginChat(t, name)
			var holds []*upstream.Hold
			agents := map[string]string{} // to the roles of its messages at the end
			for _, provider := range []string{"workersai", "openai", "anthropic"} {
				for _, n := range []int{0, 5, 15, chatWords} {
					agent := fmt.Sprintf("%s-%d", provider, n)
					holds = append(holds, c.cut(agent, "hello", n, map[string]any{"provider": provider}))
					agents[agent] = "user assistant"
					if provider == "anthropic" && n >= 10 {
						agents[agent] = "user assistant user assistant"
					}
				}
			}
			c.kill()
			for _, h := range holds {
				h.Release() // what OpenAI has stored goes on
			}
			c.server = dev(t, c.flags...)
			for agent, wanted := range agents {
				c.isWhole(agent, wanted)
			}
		})
	}
}

// A client that resumes while the hook waits for OpenAI has the SDK store the
// part that is known. The whole answer takes its place.
func TestChatResumedDuringTheHook(t *testing.T) {
	t.Parallel()
	c := beginChat(t, "chat")
	hold := c.cut("a", "hello", 15, map[string]any{"provider": "openai"})
	c.kill()
	c.server = dev(t, c.flags...)
	client := c.dial("support-chat/a")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := client.Resume(ctx); err != nil && !errors.Is(err, agentrpc.ErrNothingToResume) {
		t.Fatal(err)
	}
	untilCall(t, client, "conversation", func(m []chatMessage) bool { return roles(m) == "user assistant" })
	hold.Release()
	c.isWhole("a", "user assistant")
}

// The recovery itself is cut, and a client that connects during the second one
// sees the rest of the answer.
func TestChatCutDuringRecovery(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chat", "chat-0.10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := beginChat(t, name)
			c.cut("a", "hello", 15, nil)
			var joined agentrpc.Answer
			for life := range 2 {
				hold := c.provider.Hold(11)
				t.Cleanup(hold.Release)
				c.crash() // the agent's alarm brings it back
				if err := wait.Channel(t.Context(), clock.Real{}, limit, "the continuation stands still", hold.Reached()); err != nil {
					t.Fatal(err)
				}
				if life == 0 {
					continue // and is cut again
				}
				threads := sched.NewThreads(clock.Real{})
				client := c.dial("support-chat/a")
				threads.Go("resume", func() {
					ctx, cancel := context.WithTimeout(context.Background(), limit)
					defer cancel()
					var err error
					if joined, err = client.Resume(ctx); err != nil {
						t.Error(err)
					}
				})
				until(t, "the client has joined", func() bool { return c.saw(client, "cf_agent_use_chat_response") })
				hold.Release()
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				defer cancel()
				if err := threads.Close(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if !joined.Done || !strings.HasSuffix(words(0, chatWords), joined.Text) || len(joined.Text) < len(words(29, chatWords)) {
				t.Errorf("the client that joined saw %q, done %v", joined.Text, joined.Done)
			}
			c.isWholeAfter("a", "user assistant", 2)
		})
	}
}

// isWhole waits until an agent has recovered, and checks its answer and books.
func (c chatting) isWhole(agent, wanted string) {
	c.t.Helper()
	c.isWholeAfter(agent, wanted, 1)
}

func (c chatting) isWholeAfter(agent, wanted string, recoveries int) {
	c.t.Helper()
	client := c.dial("support-chat/" + agent)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	resumed := make(chan error, 1)
	following, leave := context.WithCancel(ctx)
	defer leave()
	go func() {
		_, err := client.Resume(following)
		resumed <- err
	}()
	defer func() {
		leave() // who acknowledges a stream while the recovery begins the next one is not answered
		if err := <-resumed; err != nil && !errors.Is(err, agentrpc.ErrNothingToResume) && !errors.Is(err, context.Canceled) {
			c.t.Errorf("%s: resume: %v", agent, err)
		}
	}()
	var messages []chatMessage
	var books chatBooks
	err := wait.Until(ctx, clock.Real{}, limit, agent+" is whole", func() (bool, error) {
		if err := tryCall(client, &messages, "conversation"); err != nil {
			return false, err
		}
		return len(answered(messages)) >= len(words(0, chatWords)), tryCall(client, &books, "inspect")
	})
	if err != nil || answered(messages) != words(0, chatWords) || roles(messages) != wanted {
		c.t.Errorf("%s: %v; %s, want %s; the answer is %q; books %+v", agent, err, roles(messages), wanted, answered(messages), books)
		return
	}
	if len(books.Recoveries) != recoveries || books.Turns > recoveries+1 {
		c.t.Errorf("%s: books %+v", agent, books)
	}
	untilCall(c.t, client, "inspect", func(b chatBooks) bool { return b.Runs == 0 })
}

// What onChatRecovery returns decides what becomes of a cut answer; a tool that
// was running is not lost silently; the request's body and the client's tools
// are restored.
func TestChatRecoveryOptions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chat", "chat-0.10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := beginChat(t, name)
			stop, drop := map[string]any{"continue": false}, map[string]any{"continue": false, "persist": false}
			tools := []any{map[string]any{"name": "confirm", "description": "asks the user", "parameters": map[string]any{"type": "object"}}}
			c.cut("all", "hello", 15, map[string]any{"onRecovery": map[string]any{}, "mood": "calm", "clientTools": tools})
			c.cut("stop", "hello", 15, map[string]any{"onRecovery": stop})
			c.cut("drop", "hello", 15, map[string]any{"onRecovery": drop})
			tool := c.say("support-chat/tool", `use weather {"city":"Rome"}`, nil)
			until(t, "the tool runs", func() bool { return c.saw(tool, "tool-input-available") })
			untilCall(t, c.dial("support-chat/tool"), "inspect", func(b chatBooks) bool { return len(b.Calls) == 1 })
			c.crash()

			c.isWhole("all", "user assistant")
			var books chatBooks
			call(t, c.dial("support-chat/all"), &books, "inspect")
			if r := books.Recoveries[0]; !strings.Contains(r.Body, `"mood":"calm"`) || r.ClientTools != "confirm" || !strings.HasPrefix(words(0, 15), r.Text) {
				t.Errorf("the hook was told %+v", r)
			}
			c.stays("stop", func(m []chatMessage) bool {
				return roles(m) == "user assistant" && answered(m) != "" && strings.HasPrefix(words(0, 15), answered(m))
			})
			c.goesOn("stop")
			c.stays("drop", func(m []chatMessage) bool { return roles(m) == "user" })
			client := c.dial("support-chat/tool")
			// Too little of the turn was stored to go on from: it is done again, and
			// with it the tool's call. Tools run at least once.
			books = untilCall(t, client, "inspect", func(b chatBooks) bool { return len(b.Calls) == 2 })
			if strings.Join(books.Calls, ", ") != "weather begin, weather begin" || books.Turns != 2 {
				t.Errorf("a tool call that was cut: %+v", books)
			}
		})
	}
}

// stays waits until an agent has recovered and nothing runs, and checks that
// its messages are as wanted.
func (c chatting) stays(agent string, wanted func([]chatMessage) bool) {
	c.t.Helper()
	client := c.dial("support-chat/" + agent)
	books := untilCall(c.t, client, "inspect", func(b chatBooks) bool { return len(b.Recoveries) == 1 && b.Runs == 0 })
	var messages []chatMessage
	call(c.t, client, &messages, "conversation")
	if !wanted(messages) || books.Turns != 1 {
		all, err := json.Marshal(messages)
		c.t.Errorf("%s: %s %v; books %+v", agent, all, err, books)
	}
}

// goesOn has an agent continue its last turn, of which a part is stored, and checks
// that the rest is added to that message.
func (c chatting) goesOn(agent string) {
	c.t.Helper()
	client := c.dial("support-chat/" + agent)
	var status string
	var messages []chatMessage
	var books chatBooks
	call(c.t, client, &status, "goOn")
	call(c.t, client, &messages, "conversation")
	call(c.t, client, &books, "inspect")
	if status != "completed" || roles(messages) != "user assistant" || answered(messages) != words(0, chatWords) || books.Turns != 2 {
		c.t.Errorf("%s: continueLastTurn is %s: %s, the answer is %q; books %+v", agent, status, roles(messages), answered(messages), books)
	}
}

// The first generation whose turns survive: what was stored is gone on from,
// with the options of the hook; what was cut before ten chunks were stored is
// lost, which is that package's own mistake.
func TestFirstRecoverableChat(t *testing.T) {
	t.Parallel()
	c := beginChat(t, "chat-0.4")
	c.cut("mid", "hello", 15, map[string]any{"mood": "calm"})
	c.cut("end", "hello", chatWords, nil)
	c.cut("stop", "hello", 15, map[string]any{"onRecovery": map[string]any{"continue": false}})
	c.cut("drop", "hello", 15, map[string]any{"onRecovery": map[string]any{"continue": false, "persist": false}})
	c.cut("first", "hello", 0, nil)
	c.cut("early", "hello", 5, nil)
	c.crash()

	c.isWhole("mid", "user assistant")
	c.isWhole("end", "user assistant")
	var books chatBooks
	call(t, c.dial("support-chat/mid"), &books, "inspect")
	if r := books.Recoveries[0]; !strings.Contains(r.Body, `"mood":"calm"`) || r.Data != `{"asked":1}` {
		t.Errorf("the hook was told %+v", r)
	}
	c.stays("stop", func(m []chatMessage) bool {
		return roles(m) == "user assistant" && answered(m) != "" && strings.HasPrefix(words(0, 15), answered(m))
	})
	c.goesOn("stop")
	c.stays("drop", func(m []chatMessage) bool { return roles(m) == "user" })
	c.stays("first", func(m []chatMessage) bool { return roles(m) == "user" })
	c.stays("early", func(m []chatMessage) bool { return roles(m) == "user" })
}
