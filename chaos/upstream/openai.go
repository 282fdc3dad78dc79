package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
)

type object = map[string]any

// openAI is the Responses API.
type openAI struct{}

func (openAI) read(body []byte) (c Conversation, stream, store bool, err error) {
	var q struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Store  *bool           `json:"store"`
		Input  json.RawMessage `json:"input"`
		Tools  []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return c, false, false, fmt.Errorf("responses: %w", err)
	}
	c.Model = q.Model
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, t.Name)
	}
	var text string
	if json.Unmarshal(q.Input, &text) == nil {
		c.Turns = []Turn{{Role: "user", Text: text}}
		return c, q.Stream, q.Store == nil || *q.Store, nil
	}
	var items []struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(q.Input, &items); err != nil {
		return c, false, false, fmt.Errorf("responses: input: %w", err)
	}
	for _, i := range items {
		switch {
		case i.Type == "function_call_output":
			c.Turns = append(c.Turns, Turn{Role: "tool"})
		case i.Role != "":
			c.Turns = append(c.Turns, Turn{Role: i.Role, Text: contentText(i.Content)})
		}
	}
	return c, q.Stream, q.Store == nil || *q.Store, nil
}

// contentText is the text of a message's content: a string, or parts.
func contentText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func (openAI) response(a *answer, status string) object {
	r := object{"id": "resp_" + a.id, "object": "response", "created_at": 1700000000, "model": a.model, "status": status, "output": []any{}}
	if status == "completed" {
		n := len(a.reply.Text)
		r["usage"] = object{
			"input_tokens": 1, "output_tokens": n, "total_tokens": n + 1,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": len(a.reply.Reasoning)},
		}
	}
	return r
}

func (o openAI) begin(w *events, a *answer) {
	w.send("response.created", object{"type": "response.created", "response": o.response(a, "in_progress")})
}

func (openAI) message(a *answer, status, text string) object {
	content := []any{}
	if text != "" {
		content = []any{object{"type": "output_text", "text": text, "annotations": []any{}}}
	}
	return object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": status, "content": content}
}

func (o openAI) piece(w *events, a *answer, p piece) {
	event := func(kind string, more object) {
		more["type"], more["output_index"] = kind, p.block
		w.send(kind, more)
	}
	switch {
	case p.tool != nil:
		item := object{"type": "function_call", "id": "fc_" + a.id, "call_id": "call_" + a.id, "name": p.tool.Name, "arguments": "", "status": "in_progress"}
		event("response.output_item.added", object{"item": item})
		event("response.function_call_arguments.delta", object{"item_id": item["id"], "delta": string(p.tool.Arguments)})
		item["arguments"], item["status"] = string(p.tool.Arguments), "completed"
		event("response.output_item.done", object{"item": item})
	case p.reasoning:
		item := object{"type": "reasoning", "id": "rs_" + a.id, "summary": []any{}}
		if p.first {
			event("response.output_item.added", object{"item": item})
			event("response.reasoning_summary_part.added", object{"item_id": item["id"], "summary_index": 0})
		}
		event("response.reasoning_summary_text.delta", object{"item_id": item["id"], "summary_index": 0, "delta": p.text})
		if p.last {
			event("response.output_item.done", object{"item": item})
		}
	default:
		if p.first {
			event("response.output_item.added", object{"item": o.message(a, "in_progress", "")})
		}
		event("response.output_text.delta", object{"item_id": "msg_" + a.id, "content_index": 0, "delta": p.text, "logprobs": []any{}})
		if p.last {
			event("response.output_item.done", object{"item": o.message(a, "completed", strings.Join(a.reply.Text, ""))})
		}
	}
}

func (o openAI) end(w *events, a *answer) {
	w.send("response.completed", object{"type": "response.completed", "response": o.response(a, "completed")})
}

func (o openAI) whole(a *answer) any {
	return o.retrieved(a, strings.Join(a.reply.Text, ""), true)
}

// retrieved is a response as GET answers it.
func (o openAI) retrieved(a *answer, text string, done bool) object {
	status := "in_progress"
	if done {
		status = "completed"
	}
	r := o.response(a, status)
	var output []any
	if t := a.reply.Tool; t != nil && done {
		output = append(output, object{"type": "function_call", "id": "fc_" + a.id, "call_id": "call_" + a.id, "name": t.Name, "arguments": string(t.Arguments), "status": "completed"})
	}
	if text != "" {
		output = append(output, o.message(a, status, text))
	}
	r["output"] = output
	return r
}
