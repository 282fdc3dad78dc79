package upstream

import (
	"fmt"
	"strings"
)

// workersAI is what env.AI.run(model, inputs) sends and gets.
type workersAI struct{}

func (workersAI) read(body []byte) (c Conversation, stream, store bool, err error) {
	q, err := readQuestion(body)
	if err != nil {
		return c, false, false, fmt.Errorf("workers ai: %w", err)
	}
	c = q.conversation()
	if q.Prompt != "" {
		c.Turns = append(c.Turns, Turn{Role: "user", Text: q.Prompt})
	}
	return c, q.Stream, false, nil
}

func (workersAI) begin(*events, *answer) {}

func (f workersAI) piece(w *events, _ *answer, p piece) {
	switch {
	case p.tool != nil:
		w.send("", object{"response": "", "tool_calls": []any{f.call(p.tool)}})
	case p.reasoning:
		w.send("", object{"response": "", "reasoning_content": p.text})
	default:
		w.send("", object{"response": p.text})
	}
}

func (workersAI) call(t *Call) object { return object{"name": t.Name, "arguments": t.Arguments} }

func (workersAI) usage(a *answer) object {
	n := len(a.reply.Text)
	return object{"prompt_tokens": 1, "completion_tokens": n, "total_tokens": n + 1}
}

func (f workersAI) end(w *events, a *answer) {
	w.send("", object{"response": "", "usage": f.usage(a)})
	w.raw("", "[DONE]")
}

func (f workersAI) whole(a *answer) any {
	whole := object{"response": strings.Join(a.reply.Text, ""), "usage": f.usage(a)}
	if a.reply.Tool != nil {
		whole["tool_calls"] = []any{f.call(a.reply.Tool)}
	}
	return whole
}
