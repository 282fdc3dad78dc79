package agentrpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// agent is a scripted peer: it answers each frame with what script returns,
// and drops the connection when that is nil.
func agent(t *testing.T, greeting []string, script func(frame map[string]any) []string) Options {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != "/agents/research-agent/r%2F1" {
			t.Errorf("path %s", r.URL.EscapedPath())
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		for _, text := range greeting {
			if conn.Write(r.Context(), websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
		for {
			_, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			var f map[string]any
			if err := json.Unmarshal(data, &f); err != nil {
				t.Errorf("the client sent %q", data)
			}
			answers := script(f)
			if answers == nil {
				return
			}
			for _, text := range answers {
				if conn.Write(r.Context(), websocket.MessageText, []byte(strings.ReplaceAll(text, "$ID", f["id"].(string)))) != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	threads := sched.NewThreads(clock.Real{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := threads.Close(ctx); err != nil {
			t.Errorf("left running: %v", err)
		}
	})
	return Options{URL: server.URL, Agent: "research-agent", Name: "r/1", Scheduler: threads, History: history.NewRecorder(clock.Real{}, nil)}
}

func dial(t *testing.T, o Options) (*Client, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	c, err := Dial(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, ctx
}

func kinds(r *history.Recorder) string {
	var out []string
	for _, e := range r.Events() {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

// A call is sent in the SDK's form and returns its result; frames that belong
// to nobody are recorded and disturb nothing.
func TestCall(t *testing.T) {
	o := agent(t, []string{`{"type":"cf_agent_identity","name":"r/1"}`, `hello`}, func(f map[string]any) []string {
		if f["type"] != "rpc" || f["method"] != "startResearch" || f["args"].([]any)[0] != "tides" {
			t.Errorf("request %v", f)
		}
		return []string{`{"type":"rpc","id":"someone-else","success":true,"result":1}`, `{"type":"rpc","id":"$ID","success":true,"result":{"job":"job-1"},"done":true}`}
	})
	c, ctx := dial(t, o)
	result, err := c.Call(ctx, "startResearch", json.RawMessage(`["tides"]`))
	if err != nil || string(result) != `{"job":"job-1"}` {
		t.Fatalf("%s, %v", result, err)
	}
	c.Close()
	events := o.History.Events()
	var call, ret history.Event
	for _, e := range events {
		switch e.Kind {
		case history.Call:
			call = e
		case history.Return:
			ret = e
		}
	}
	if call.Op == "" || call.Op != ret.Op || string(ret.Data) != `{"job":"job-1"}` {
		t.Errorf("call %+v, return %+v", call, ret)
	}
	if k := kinds(o.History); !strings.HasPrefix(k, "connect") || !strings.HasSuffix(k, "close") || strings.Count(k, "receive") != 4 || strings.Count(k, "send") != 1 {
		t.Errorf("history: %s", k)
	}
}

// The history says of a question that it is asked until the answer is liked, also when it is
// asked for the first time: of what a death cuts, it counts once.
func TestQuestionsAreTold(t *testing.T) {
	o := agent(t, nil, func(map[string]any) []string {
		return []string{`{"type":"rpc","id":"$ID","success":true,"result":1,"done":true}`}
	})
	c, ctx := dial(t, o)
	for _, ask := range []func(context.Context, string, json.RawMessage) (json.RawMessage, error){c.Call, c.AskFirst, c.Ask} {
		if _, err := ask(ctx, "isDone", nil); err != nil {
			t.Fatal(err)
		}
	}
	var until []bool
	for _, e := range o.History.Events() {
		if e.Kind == history.Call {
			until = append(until, e.Until)
		}
	}
	if !slices.Equal(until, []bool{false, true, true}) {
		t.Errorf("asked until: %v", until)
	}
}

// An error of the method is the caller's to see, and is a failure, not a loss.
func TestCallFails(t *testing.T) {
	o := agent(t, nil, func(map[string]any) []string {
		return []string{`{"type":"rpc","id":"$ID","success":false,"error":"Method nope does not exist"}`}
	})
	c, ctx := dial(t, o)
	_, err := c.Call(ctx, "nope", nil)
	var remote *RemoteError
	if !errors.As(err, &remote) || remote.Message != "Method nope does not exist" || errors.Is(err, ErrLost) {
		t.Fatalf("err = %v", err)
	}
	if !strings.Contains(kinds(o.History), "fail") {
		t.Errorf("history: %s", kinds(o.History))
	}
}

// A streaming method's chunks come in order, then its last value.
func TestCallStream(t *testing.T) {
	o := agent(t, nil, func(map[string]any) []string {
		return []string{
			`{"type":"rpc","id":"$ID","success":true,"result":"a","done":false}`,
			`{"type":"rpc","id":"$ID","success":true,"result":"b","done":false}`,
			`{"type":"rpc","id":"$ID","success":true,"result":"end","done":true}`,
		}
	})
	c, ctx := dial(t, o)
	var chunks []string
	result, err := c.CallStream(ctx, "count", nil, func(chunk json.RawMessage) { chunks = append(chunks, string(chunk)) })
	if err != nil || string(result) != `"end"` || strings.Join(chunks, "") != `"a""b"` {
		t.Fatalf("%s %v %v", result, chunks, err)
	}
}

// A call whose connection is cut has an unknown outcome, in the error and in
// the history; a call after that does not begin.
func TestCallLost(t *testing.T) {
	o := agent(t, nil, func(map[string]any) []string { return nil })
	c, ctx := dial(t, o)
	if _, err := c.Call(ctx, "startResearch", nil); !errors.Is(err, ErrLost) {
		t.Fatalf("err = %v", err)
	}
	<-c.Lost()
	if _, err := c.Call(ctx, "startResearch", nil); !errors.Is(err, ErrLost) {
		t.Fatalf("second err = %v", err)
	}
	if k := kinds(o.History); strings.Count(k, "unknown") != 1 || strings.Count(k, "call") != 1 {
		t.Errorf("history: %s", k)
	}
}

// The last state that the agent sent is kept.
func TestState(t *testing.T) {
	o := agent(t, []string{`{"type":"cf_agent_state","state":{"n":1}}`, `{"type":"cf_agent_state","state":{"n":2}}`},
		func(f map[string]any) []string {
			return []string{`{"type":"rpc","id":"$ID","success":true,"result":null}`}
		})
	c, ctx := dial(t, o)
	if _, err := c.Call(ctx, "any", nil); err != nil { // frames before its answer have been read
		t.Fatal(err)
	}
	if s := string(c.State()); s != `{"n":2}` {
		t.Errorf("state = %s", s)
	}
}

// A chat turn carries the earlier messages and the new one, and its text is
// put together from the deltas.
func TestChat(t *testing.T) {
	o := agent(t, []string{`{"type":"cf_agent_chat_messages","messages":[{"id":"m1","role":"user","parts":[]}]}`},
		func(f map[string]any) []string {
			if f["type"] == "rpc" {
				return []string{`{"type":"rpc","id":"$ID","success":true}`}
			}
			var body struct {
				Messages []message `json:"messages"`
				Trigger  string    `json:"trigger"`
			}
			if err := json.Unmarshal([]byte(f["init"].(map[string]any)["body"].(string)), &body); err != nil {
				t.Error(err)
			}
			if f["type"] != "cf_agent_use_chat_request" || len(body.Messages) != 2 || body.Messages[1].Parts[0].Text != "hello" {
				t.Errorf("request %v, %+v", f, body)
			}
			return []string{
				`{"type":"cf_agent_use_chat_response","id":"$ID","body":"{\"type\":\"text-delta\",\"delta\":\"Hi \"}","done":false}`,
				`{"type":"cf_agent_use_chat_response","id":"$ID","body":"{\"type\":\"text-delta\",\"delta\":\"you\"}","done":false}`,
				`{"type":"cf_agent_use_chat_response","id":"$ID","body":"","done":true}`,
			}
		})
	c, ctx := dial(t, o)
	if _, err := c.Call(ctx, "barrier", nil); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Chat(ctx, "hello")
	if err != nil || answer.Text != "Hi you" || !answer.Done || len(answer.Chunks) != 2 {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// A stream that is cut leaves what was seen of it; one that ends in an error
// frame says so.
func TestChatCutAndFailed(t *testing.T) {
	turns := 0
	o := agent(t, nil, func(map[string]any) []string {
		if turns++; turns == 1 {
			return []string{
				`{"type":"cf_agent_use_chat_response","id":"$ID","body":"{\"type\":\"text-delta\",\"delta\":\"Hi\"}","done":false}`,
				`{"type":"cf_agent_use_chat_response","id":"$ID","body":"no model","error":true,"done":true}`,
			}
		}
		return nil
	})
	c, ctx := dial(t, o)
	answer, err := c.Chat(ctx, "hello")
	var remote *RemoteError
	if !errors.As(err, &remote) || remote.Message != "no model" || answer.Text != "Hi" || answer.Done {
		t.Fatalf("%+v, %v", answer, err)
	}
	if answer, err = c.Chat(ctx, "again"); !errors.Is(err, ErrLost) || answer.Done {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// A client that reconnects joins the stream under way, or learns that there is none.
func TestResume(t *testing.T) {
	probes := 0
	o := agent(t, nil, func(f map[string]any) []string {
		f["id"] = "turn-7"
		if f["type"] == "cf_agent_stream_resume_request" {
			if probes++; probes == 1 {
				return []string{`{"type":"cf_agent_stream_resume_none"}`}
			}
			return []string{`{"type":"cf_agent_stream_resuming","id":"$ID"}`}
		}
		return []string{
			`{"type":"cf_agent_use_chat_response","id":"$ID","replay":true,"body":"{\"type\":\"text-delta\",\"delta\":\"whole\"}","done":false}`,
			`{"type":"cf_agent_use_chat_response","id":"$ID","body":"","done":true}`,
		}
	})
	c, ctx := dial(t, o)
	if _, err := c.Resume(ctx); !errors.Is(err, ErrNothingToResume) {
		t.Fatalf("err = %v", err)
	}
	answer, err := c.Resume(ctx)
	if err != nil || answer.Text != "whole" || answer.Request != "turn-7" {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// A server that does not accept the socket is quoted.
func TestDialRefused(t *testing.T) {
	o := agent(t, nil, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "ReferenceError: tide is not defined", http.StatusInternalServerError)
	}))
	defer server.Close()
	o.URL = server.URL
	if _, err := Dial(context.Background(), o); err == nil || !strings.Contains(err.Error(), "500") || !strings.Contains(err.Error(), "tide is not defined") {
		t.Fatalf("err = %v", err)
	}
	if k := kinds(o.History); k != "fail" {
		t.Errorf("history: %s", k)
	}
}
