package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/history"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// scene is a history in short lines: "ask", "tell TEXT", "end", "error", "lost",
// "model TEXT", "fault TEXT" (a spoilt answer), "back" (the client resumes),
// "replay TEXT".
func scene(lines ...string) []history.Event {
	var out []history.Event
	who := "client-1"
	add := func(kind history.Kind, op, text string, data any) {
		raw, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		out = append(out, history.Event{N: len(out) + 1, Kind: kind, Who: who, Op: op, Text: text, Data: raw})
	}
	frame := func(text string, done, bad bool) {
		body := ""
		if text != "" {
			body = fmt.Sprintf(`{"type":"text-delta","delta":%q}`, text)
		}
		add(history.Receive, "", "", response{"cf_agent_use_chat_response", "client-1-chat-1", body, done, bad})
	}
	add(history.Connect, "", "/agents/a/b", nil)
	for _, line := range lines {
		verb, text, _ := strings.Cut(line, " ")
		switch verb {
		case "ask":
			add(history.Call, "client-1-chat-1", "chat", "hello")
		case "tell", "replay":
			frame(text, false, false)
		case "end":
			frame("", true, false)
			add(history.Return, "client-1-chat-1", "chat", "")
		case "error":
			frame("", true, true)
			add(history.Fail, "client-1-chat-1", "chat: boom", nil)
		case "lost":
			add(history.Unknown, "client-1-chat-1", "lost", nil)
		case "model":
			add(history.Fetch, "1", "/ai", history.Asked{User: "hello", Reply: text})
		case "fault":
			add(history.Fetch, "1", "/ai", history.Asked{User: "hello", Reply: text, Fault: "cut"})
		case "back":
			who = "client-2"
			add(history.Connect, "", "/agents/a/b", nil)
			add(history.Call, "client-1-chat-1", "resume", nil)
		}
	}
	return out
}

func said(role, id string, texts ...string) Message {
	m := Message{ID: id, Role: role}
	for _, t := range texts {
		m.Parts = append(m.Parts, Part{Type: "text", Text: t})
	}
	return m
}

func conversation(answers ...string) State {
	s := State{Chat: true, Messages: []Message{said("user", "client-1-chat-1-user", "hello")}}
	for i, a := range answers {
		s.Messages = append(s.Messages, said("assistant", fmt.Sprint("m", i), a))
	}
	return s
}

// Each invariant is found broken where it is, and nowhere else.
func TestCheck(t *testing.T) {
	whole := []string{"ask", "model a b", "tell a ", "tell b", "end"}
	cut := []string{"ask", "model a b", "tell a ", "lost"}
	synthetic := conversation("a ")
	ask := said("user", "x", "Continue")
	ask.Metadata.Synthetic = true
	synthetic.Messages = append(synthetic.Messages, ask, said("assistant", "y", "b"))
	tool := conversation("a b")
	tool.Messages[1].Parts = append(tool.Messages[1].Parts, Part{Type: "tool-x", ToolCallID: "1"}, Part{Type: "tool-x", ToolCallID: "1"})
	streaming := conversation("a b")
	streaming.Streams = []Stream{{"s", "streaming"}}
	for _, c := range []struct {
		name   string
		events []history.Event
		rest   State
		want   string
	}{
		{"whole", scene(whole...), conversation("a b"), ""},
		{"cut and finished", scene(cut...), conversation("a b"), ""},
		{"cut and asked to go on", scene(cut...), synthetic, ""},
		{"never heard of", scene("ask", "lost"), State{Chat: true}, ""},
		{"no model", scene("ask", "tell a ", "tell b", "end"), conversation("a b"), ""},
		{"no model, and shorter", scene("ask", "tell a ", "tell b", "end"), conversation("a "), AnswerWhole},
		{"lost", scene(cut...), conversation(), OneAnswer},
		{"twice", scene(cut...), conversation("a ", "a b"), OneAnswer},
		{"half", scene(cut...), conversation("a "), AnswerWhole},
		{"doubled", scene(cut...), conversation("a a b"), AnswerWhole},
		{"failed", scene("ask", "model a b", "tell a ", "error"), conversation("a "), ""},
		{"failed, and nonsense", scene("ask", "model a b", "tell a ", "error"), conversation("b"), AnswerWhole},
		{"spoilt", scene("ask", "fault a b", "tell a ", "end"), conversation("a "), ""},
		{"told something else", scene("ask", "model a b", "tell b", "lost"), conversation("a b"), SeenKept},
		{"question lost", scene(cut...), State{Chat: true}, QuestionKept},
		{"two ends", scene(append(whole, "tell")...), conversation("a b"), TerminalOnce},
		{"came back", scene(append(cut, "back", "replay a ", "replay b", "end")...), conversation("a b"), ""},
		{"came back to another", scene(append(cut, "back", "replay b", "end")...), conversation("a b"), ResumeAgrees},
		{"tool twice", scene(whole...), tool, ToolOnce},
		{"stream left", scene(whole...), streaming, StreamEnded},
	} {
		got := ""
		for _, v := range Check(c.events, []State{c.rest}) {
			got += v.Invariant
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q: %v", c.name, got, c.want, Check(c.events, []State{c.rest}))
		}
	}
}

// Both generations of tables are read, and an object without them is no chat.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"first": {`CREATE TABLE cf_ai_chat_agent_messages (id TEXT PRIMARY KEY, message TEXT, created_at DATETIME);
			INSERT INTO cf_ai_chat_agent_messages VALUES ('a', '{"id":"a","role":"user","parts":[{"type":"text","text":"hi"}]}', '1');
			CREATE TABLE cf_ai_chat_stream_metadata (id TEXT, request_id TEXT, status TEXT);
			INSERT INTO cf_ai_chat_stream_metadata VALUES ('s', 'r', 'streaming')`, "true user hi s streaming"},
		"latest": {`CREATE TABLE cf_agents_session_messages (id TEXT, seq INTEGER, content TEXT);
			INSERT INTO cf_agents_session_messages VALUES ('a', 1, '{"id":"a","role":"user","parts":[{"type":"text","text":"hi"}]}');
			CREATE TABLE cf_agents_streams (stream_id TEXT, state TEXT); INSERT INTO cf_agents_streams VALUES ('s', 'completed')`, "true user hi s completed"},
		"none": {`CREATE TABLE x (y)`, "false"},
	} {
		path := filepath.Join(t.TempDir(), "o.sqlite")
		db, err := sqlite.Open(sqlite.Options{Path: path, Now: clock.Real{}.Now, Rand: entropy.System{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Exec(c.sql); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		copied, err := evidence.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := Read(copied)
		if err := errors.Join(err, copied.Close()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := fmt.Sprint(s.Chat)
		for _, m := range s.Messages {
			got += " " + m.Role + " " + m.Text()
		}
		for _, x := range s.Streams {
			got += " " + x.ID + " " + x.Status
		}
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
