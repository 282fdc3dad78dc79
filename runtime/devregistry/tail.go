package devregistry

import (
	"strings"

	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/isolate"
)

// tailArgs is what a worker's tail method is called with through a debug port: the
// array of what miniflare's proxy makes of TraceItems with JSON
// (miniflare: workers/core/dev-registry-proxy).
func tailArgs(traces []*event.Trace) (*event.Payload, error) {
	items := &clone.GoArray{}
	for _, t := range traces {
		item, err := traceItem(t)
		if err != nil {
			return nil, err
		}
		items.Items = append(items.Items, item)
	}
	data, err := clone.EncodeFromGo(&clone.GoArray{Items: []any{items}})
	return &event.Payload{Bytes: data}, err
}

// fields makes an object of names and values in turn; what is undefined is left out.
func fields(namesAndValues ...any) *clone.GoObject {
	o := &clone.GoObject{}
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] != (clone.Undefined{}) {
			o.Properties = append(o.Properties, clone.GoProperty{Key: namesAndValues[i].(string), Value: namesAndValues[i+1]})
		}
	}
	return o
}

// given is a text, undefined if it is empty.
func given(text string) any {
	if text == "" {
		return clone.Undefined{}
	}
	return text
}

// parsed is a JSON text, undefined if it is empty.
func parsed(text event.RawJSON) (any, error) {
	if len(text) == 0 {
		return clone.Undefined{}, nil
	}
	return clone.GoFromJSON(text)
}

func traceItem(t *event.Trace) (*clone.GoObject, error) {
	info, err := traceInfo(&t.Event)
	if err != nil {
		return nil, err
	}
	logs, exceptions := &clone.GoArray{}, &clone.GoArray{}
	for _, l := range t.Logs {
		message, err := parsed(l.Message)
		if err != nil {
			return nil, err
		}
		errs, err := parsed(l.Errors)
		if err != nil {
			return nil, err
		}
		logs.Items = append(logs.Items, fields("errorInfo", errs, "message", message, "level", l.Level, "timestamp", float64(l.AtMs)))
	}
	for _, x := range t.Exceptions {
		exceptions.Items = append(exceptions.Items, fields("stack", given(x.Stack), "name", x.Name, "message", x.Message, "timestamp", float64(x.AtMs)))
	}
	return fields("wallTime", 0.0, "cpuTime", 0.0, "truncated", t.Truncated, "executionModel", t.Model, "outcome", t.Outcome, "durableObjectId", given(t.ObjectID),
		"entrypoint", given(t.Entrypoint), "scriptName", t.ScriptName, "diagnosticsChannelEvents", &clone.GoArray{}, "exceptions", exceptions, "logs", logs,
		"eventTimestamp", float64(t.AtMs), "event", info), nil
}

// traceInfo is the event of a trace, nil if it has none that is shown.
func traceInfo(e *event.TraceEvent) (any, error) {
	switch e.Type {
	case "fetch":
		request, err := traceRequest(e.Request)
		if err != nil {
			return nil, err
		}
		var response any = clone.Undefined{}
		if e.Status != 0 {
			response = fields("status", float64(e.Status))
		}
		return fields("request", request, "response", response), nil
	case "jsrpc":
		return fields("rpcMethod", e.Method), nil
	case "connect":
		return fields(), nil
	case "scheduled":
		return fields("cron", e.Cron, "scheduledTime", float64(e.ScheduledMs)), nil
	case "alarm":
		return fields("scheduledTime", &clone.GoDate{Milliseconds: float64(e.ScheduledMs)}), nil
	case "queue":
		return fields("batchSize", float64(e.BatchSize), "queue", e.Queue), nil
	case "email":
		return fields("rawSize", float64(e.Mail.Bytes), "rcptTo", e.Mail.To, "mailFrom", e.Mail.From), nil
	case "hibernatableWebSocket":
		of := fields("webSocketEventType", e.Socket.Type)
		if e.Socket.Type == "close" {
			of = fields("wasClean", e.Socket.Clean, "code", float64(e.Socket.Code), "webSocketEventType", "close")
		}
		return fields("getWebSocketEvent", of), nil
	case "trace":
		consumed := &clone.GoArray{}
		for _, c := range e.Consumed {
			consumed.Items = append(consumed.Items, fields("scriptName", given(c.ScriptName)))
		}
		return fields("consumedEvents", consumed), nil
	}
	return nil, nil
}

func traceRequest(r *event.TraceRequest) (*clone.GoObject, error) {
	cf, err := parsed(r.CF)
	if err != nil {
		return nil, err
	}
	header := &clone.GoObject{}
	for _, h := range r.Headers {
		name, value := h[0], h[1]
		if isolate.SecretHeader(name) {
			value = "REDACTED"
		}
		set := false
		for i := range header.Properties {
			if p := &header.Properties[i]; p.Key == name {
				if set = true; value != "REDACTED" {
					p.Value = strings.Join([]string{p.Value.(string), value}, ", ")
				}
			}
		}
		if !set {
			header.Properties = append(header.Properties, clone.GoProperty{Key: name, Value: value})
		}
	}
	return fields("url", isolate.RedactURL(r.URL), "method", r.Method, "headers", header, "cf", cf), nil
}
