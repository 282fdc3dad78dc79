package upstream

import (
	"fmt"
	"strings"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) read(body []byte) (c Conversation, stream, store bool, err error) {
	q, err := readQuestion(body)
	if err != nil {
		return c, false, false, fmt.Errorf("messages: %w", err)
	}
	c = q.conversation()
	for i, m := range q.Messages {
		if m.Role == "user" && strings.Contains(string(m.Content), `"tool_result"`) {
			c.Turns[i] = Turn{Role: "tool"}
		}
	}
	if n := len(c.Turns); n > 0 && c.Turns[n-1].Role == "assistant" {
		return c, false, false, fmt.Errorf("messages: this model does not support assistant message prefill; the conversation must end with a user message")
	}
	return c, q.Stream, false, nil
}

func (anthropic) message(a *answer, content []any, stop any) object {
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1},
	}
}

func (anthropic) stopReason(a *answer) string {
	if a.reply.Tool != nil {
		return "tool_use"
	}
	return "end_turn"
}

func (f anthropic) begin(w *events, a *answer) {
	w.send("message_start", object{"type": "message_start", "message": f.message(a, []any{}, nil)})
}

func (anthropic) piece(w *events, a *answer, p piece) {
	start := object{"type": "text", "text": ""}
	delta := object{"type": "text_delta", "text": p.text}
	switch {
	case p.tool != nil:
		start = object{"type": "tool_use", "id": "toolu_" + a.id, "name": p.tool.Name, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(p.tool.Arguments)}
	case p.reasoning:
		start = object{"type": "thinking", "thinking": "", "signature": ""}
		delta = object{"type": "thinking_delta", "thinking": p.text}
	}
	if p.first {
		w.send("content_block_start", object{"type": "content_block_start", "index": p.block, "content_block": start})
	}
	w.send("content_block_delta", object{"type": "content_block_delta", "index": p.block, "delta": delta})
	if p.last {
		w.send("content_block_stop", object{"type": "content_block_stop", "index": p.block})
	}
}

func (f anthropic) end(w *events, a *answer) {
	w.send("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": f.stopReason(a), "stop_sequence": nil},
		"usage": object{"output_tokens": len(a.reply.Text)},
	})
	w.send("message_stop", object{"type": "message_stop"})
}

func (f anthropic) whole(a *answer) any {
	var content []any
	if t := a.reply.Tool; t != nil {
		content = append(content, object{"type": "tool_use", "id": "toolu_" + a.id, "name": t.Name, "input": t.Arguments})
	}
	if len(a.reply.Text) > 0 {
		content = append(content, object{"type": "text", "text": strings.Join(a.reply.Text, "")})
	}
	return f.message(a, content, f.stopReason(a))
}
