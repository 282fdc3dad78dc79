package devregistry

import (
	"encoding/json"
	"testing"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
)

// Each kind of event is told as miniflare's proxy tells it: what is secret is not shown,
// what is undefined is left out.
func TestTailArgs(t *testing.T) {
	info := func(e event.TraceEvent) any {
		return firstItem(t, []*event.Trace{{ScriptName: "w", Model: "stateless", Outcome: "ok", AtMs: 5e12, Event: e}})["event"]
	}
	for want, e := range map[string]event.TraceEvent{
		`{"request":{"cf":{"a":[1]},"headers":{"accept":"a, b","cookie":"REDACTED"},"method":"GET","url":"http://h/REDACTED"},"response":{"status":201}}`: {
			Type: "fetch", Status: 201, Request: &event.TraceRequest{URL: "http://h/0123456789abcdef0123456789abcdef", Method: "GET", CF: event.RawJSON(`{"a":[1]}`),
				Headers: [][2]string{{"accept", "a"}, {"cookie", "x"}, {"accept", "b"}, {"cookie", "y"}}}},
		`{"request":{"headers":{},"method":"PUT","url":"http://h/"}}`: {Type: "fetch", Request: &event.TraceRequest{URL: "http://h/", Method: "PUT"}},
		`{"rpcMethod":"m"}`:                         {Type: "jsrpc", Method: "m"},
		`{"cron":"* * * * *","scheduledTime":7}`:    {Type: "scheduled", Cron: "* * * * *", ScheduledMs: 7},
		`{"scheduledTime":"a date: 7"}`:             {Type: "alarm", ScheduledMs: 7},
		`{"batchSize":2,"queue":"q"}`:               {Type: "queue", Queue: "q", BatchSize: 2},
		`{"mailFrom":"a","rawSize":3,"rcptTo":"b"}`: {Type: "email", Mail: &event.TraceMail{From: "a", To: "b", Bytes: 3}},
		`{"getWebSocketEvent":{"code":1000,"wasClean":true,"webSocketEventType":"close"}}`: {Type: "hibernatableWebSocket", Socket: &event.TraceSocket{Type: "close", Code: 1000, Clean: true}},
		`{"getWebSocketEvent":{"webSocketEventType":"message"}}`:                           {Type: "hibernatableWebSocket", Socket: &event.TraceSocket{Type: "message"}},
		`{"consumedEvents":[{"scriptName":"v"}]}`:                                          {Type: "trace", Consumed: []event.TraceSource{{ScriptName: "v"}}},
		`{}`:   {Type: "connect"},
		`null`: {Type: "custom"},
	} {
		got, err := json.Marshal(info(e))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	whole, err := json.Marshal(firstItem(t, []*event.Trace{{ScriptName: "w", Entrypoint: "E", Model: "durableObject", ObjectID: "id", Outcome: "exception", AtMs: 1, Truncated: true,
		Logs:       []event.TraceLog{{Level: "log", Message: event.RawJSON(`["a",{"b":1}]`), Errors: event.RawJSON(`[null]`), AtMs: 2}},
		Exceptions: []event.TraceException{{Name: "Error", Message: "m", AtMs: 3}}}}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"cpuTime":0,"diagnosticsChannelEvents":[],"durableObjectId":"id","entrypoint":"E","event":null,"eventTimestamp":1,"exceptions":[{"message":"m","name":"Error","timestamp":3}],` +
		`"executionModel":"durableObject","logs":[{"errorInfo":[null],"level":"log","message":["a",{"b":1}],"timestamp":2}],"outcome":"exception","scriptName":"w","truncated":true,"wallTime":0}`
	if string(whole) != want {
		t.Errorf("%s, not %s", whole, want)
	}
}

// firstItem reads what a tail method gets for one trace.
func firstItem(t *testing.T, traces []*event.Trace) map[string]any {
	t.Helper()
	p, err := tailArgs(traces)
	if err != nil {
		t.Fatal(err)
	}
	v, err := clone.DecodeToGo(p.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return plain(v.(*clone.GoArray).Items[0].(*clone.GoArray).Items[0]).(map[string]any)
}

func plain(v any) any {
	switch v := v.(type) {
	case *clone.GoObject:
		m := map[string]any{}
		for _, p := range v.Properties {
			m[p.Key] = plain(p.Value)
		}
		return m
	case *clone.GoArray:
		a := []any{}
		for _, item := range v.Items {
			a = append(a, plain(item))
		}
		return a
	case *clone.GoDate:
		return "a date: " + string(rune('0'+int(v.Milliseconds)))
	}
	return v
}
