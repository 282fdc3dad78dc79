package upstream

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

func start(t *testing.T, script Script) *Server {
	t.Helper()
	threads := sched.NewThreads(clock.Real{})
	s, err := Start(Options{Scheduler: threads, Script: script})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

func post(t *testing.T, ctx context.Context, url, body string) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return 0, ""
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	return r.StatusCode, string(data)
}

// Each format streams the words, and calls a tool when it is asked to.
func TestFormatsStream(t *testing.T) {
	s := start(t, Words(3))
	for path, c := range map[string]struct{ talk, tool, end string }{
		"/v1/responses": {
			`{"stream":true,"model":"m","input":"hello"}`,
			`{"stream":true,"model":"m","input":"use clock {\"zone\":1}","tools":[{"type":"function","name":"clock"}]}`, "response.completed",
		},
		"/v1/messages": {
			`{"stream":true,"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}]}`,
			`{"stream":true,"model":"m","messages":[{"role":"user","content":"use clock {\"zone\":1}"}],"tools":[{"name":"clock"}]}`, "message_stop",
		},
		"/ai/run/@cf/meta/m": {
			`{"stream":true,"messages":[{"role":"user","content":"hello"}]}`,
			`{"stream":true,"messages":[{"role":"user","content":"use clock {\"zone\":1}"}],"tools":[{"type":"function","function":{"name":"clock"}}]}`, "[DONE]",
		},
	} {
		status, talk := post(t, t.Context(), s.URL()+path, c.talk)
		for _, want := range []string{`"w0 "`, `"w1 "`, `"w2 "`, c.end} {
			if status != 200 || !strings.Contains(talk, want) {
				t.Errorf("%s: %d, no %s in\n%s", path, status, want, talk)
			}
		}
		if _, tool := post(t, t.Context(), s.URL()+path, c.tool); !strings.Contains(tool, `clock`) || !strings.Contains(tool, "zone") || strings.Contains(tool, "w0") {
			t.Errorf("%s: no call of the tool in\n%s", path, tool)
		}
	}
}

// Asked to go on, the model goes on where it was cut.
func TestWordsGoOn(t *testing.T) {
	talk := []Turn{{"user", "hello"}, {"assistant", "w0 w1 "}}
	for name, turns := range map[string][]Turn{
		"assistant last": talk,
		"user asks":      append(talk[:2:2], Turn{"user", "Continue where you left off."}),
	} {
		if got := strings.Join(Words(4)(Conversation{Turns: turns}).Text, ""); got != "w2 w3 " {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Words(2)(Conversation{Turns: append(talk[:2:2], Turn{"user", "again"})}).Text; len(got) != 2 {
		t.Errorf("a new question: %q", got)
	}
}

// A stored response goes on when its caller has gone; others end with it.
func TestStoredResponseOutlivesItsCaller(t *testing.T) {
	s := start(t, Words(3))
	hold := s.Hold(1)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan string, 1)
	go func() {
		_, body := post(t, ctx, s.URL()+"/v1/responses", `{"stream":true,"store":true,"model":"m","input":"hello"}`)
		gone <- body
	}()
	<-hold.Reached()
	cancel()
	if body := <-gone; strings.Contains(body, "w1 ") {
		t.Errorf("the held piece was sent: %s", body)
	}
	look := func() string {
		r, err := http.Get(s.URL() + "/v1/responses/resp_1")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got := look(); !strings.Contains(got, `"in_progress"`) || !strings.Contains(got, `"w0 "`) {
		t.Errorf("held: %s", got)
	}
	hold.Release()
	s.mu.Lock()
	g := s.stored["resp_1"]
	s.mu.Unlock()
	if err := g.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := look(); !strings.Contains(got, `"completed"`) || !strings.Contains(got, `"w0 w1 w2 "`) {
		t.Errorf("released: %s", got)
	}
}

// An answer may end early as if that were all, or come in parts that cut its
// lines; a Faults counts requests and spoils the one that it names.
func TestSpoiltAnswers(t *testing.T) {
	s := start(t, Words(3))
	s.Begin(0, []Fault{{Verb: Truncate, Request: 2, Byte: 30}, {Verb: Slice, Request: 3, Byte: 4}})
	ask := func() string {
		status, body := post(t, t.Context(), s.URL()+"/v1/messages", `{"stream":true,"model":"m","messages":[{"role":"user","content":"hello"}]}`)
		if status != 200 {
			t.Errorf("status %d", status)
		}
		return body
	}
	id := strings.NewReplacer("msg_1", "msg_N", "msg_2", "msg_N", "msg_3", "msg_N")
	whole, short, sliced := id.Replace(ask()), id.Replace(ask()), id.Replace(ask())
	if len(short) != 30 || !strings.HasPrefix(whole, short) {
		t.Errorf("truncated: %q", short)
	}
	if sliced != whole || !strings.Contains(whole, "message_stop") {
		t.Errorf("sliced: %q, want %q", sliced, whole)
	}
	if n := s.Arrived(); n != 3 {
		t.Errorf("%d requests counted", n)
	}
}

// A test may have calls refused, and the provider refuses what it cannot read.
func TestRefusals(t *testing.T) {
	s := start(t, Words(1))
	s.Refuse(429)
	const hello = `{"messages":[{"role":"user","content":"hello"}]}`
	for i, want := range []int{429, 200} {
		if status, body := post(t, t.Context(), s.URL()+"/v1/messages", hello); status != want {
			t.Errorf("call %d: %d %s", i+1, status, body)
		}
	}
	if status, body := post(t, t.Context(), s.URL()+"/v1/messages", `{"messages":[{"role":"assistant","content":"w0"}]}`); status != 400 || !strings.Contains(body, "prefill") {
		t.Errorf("prefill: %d %s", status, body)
	}
	if got := len(s.Requests()); got != 2 {
		t.Errorf("%d calls noted, want the 2 that were understood", got)
	}
}
