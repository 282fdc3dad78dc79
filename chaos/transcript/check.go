package transcript

import (
	"fmt"
	"strings"

	"minido.dev/minido/chaos/history"
)

// Violation is an invariant that does not hold, with the facts that prove it.
// Immutable.
type Violation struct {
	// Invariant is its short name; see Check.
	Invariant string
	// Text says in one or two lines what happened instead.
	Text string
}

// The invariants, by name.
const (
	// QuestionKept: if a client was shown part of an answer, the question is stored.
	QuestionKept = "question-kept"
	// OneAnswer: a stored question has one answer: one message, and one more for
	// each synthetic message that asks the model to go on.
	OneAnswer = "one-answer"
	// AnswerWhole: the stored answer is all that the model says to the question,
	// once. An answer that failed, and that the client knows has failed, may be a
	// beginning of it.
	AnswerWhole = "answer-whole"
	// SeenKept: what a client was told of an answer is how the stored one begins.
	SeenKept = "seen-kept"
	// ResumeAgrees: so is what a client gets that comes back to it.
	ResumeAgrees = "resume-agrees"
	// TerminalOnce: after the frame that ends an answer, none of it follows.
	TerminalOnce = "terminal-once"
	// ToolOnce: no tool call appears twice in a conversation.
	ToolOnce = "tool-once"
	// StreamEnded: at rest no stream is under way.
	StreamEnded = "stream-ended"
)

// Check holds the history against what the chat agents have stored at rest.
// Only questions that a client of the harness asked are judged (their message's
// id is the request's, and "-user").
func Check(events []history.Event, rest []State) []Violation {
	o := look(events)
	kept := map[string]bool{}
	for _, s := range rest {
		o.stored(s, kept)
	}
	for _, t := range o.turns {
		if t.told && !kept[t.op] {
			o.add(QuestionKept, "%s: the client was told %q of the answer to %q, and the question is stored nowhere", t.op, t.text, t.question)
		}
	}
	return o.found
}

func (o *outside) add(invariant, format string, args ...any) {
	o.found = append(o.found, Violation{invariant, fmt.Sprintf(format, args...)})
}

// stored judges one conversation.
func (o *outside) stored(s State, kept map[string]bool) {
	var current *turn
	var text strings.Builder
	answers, allowed := 0, 1
	tools := map[string]string{}
	close := func() {
		if current != nil {
			o.judge(current, text.String(), answers, allowed)
		}
		text.Reset()
		answers, allowed = 0, 1
	}
	for _, m := range s.Messages {
		switch {
		case m.Role == "user" && m.Metadata.Synthetic:
			allowed++
		case m.Role == "user":
			close()
			op := strings.TrimSuffix(m.ID, "-user")
			current, kept[op] = o.byOp[op], true
		case m.Role == "assistant":
			answers++
			text.WriteString(m.Text())
			o.toolsOf(m, tools)
		}
	}
	close()
	for _, stream := range s.Streams {
		if stream.Status == "streaming" {
			o.add(StreamEnded, "the stream %s is %q at rest: nobody will end it", stream.ID, stream.Status)
		}
	}
}

func (o *outside) toolsOf(m Message, tools map[string]string) {
	for _, p := range m.Parts {
		if p.ToolCallID == "" {
			continue
		}
		if other, again := tools[p.ToolCallID]; again {
			o.add(ToolOnce, "the tool call %s stands in the messages %s and %s", p.ToolCallID, other, m.ID)
		}
		tools[p.ToolCallID] = m.ID
	}
}

// judge holds the answer to one question against what was seen of it.
func (o *outside) judge(t *turn, answer string, answers, allowed int) {
	if answers > allowed || answers == 0 && !t.failed {
		o.add(OneAnswer, "%s: the question %q has %d answers: %q", t.op, t.question, answers, answer)
		return
	}
	whole := t.whole
	if !t.asked && t.returned {
		whole = t.text // no scripted model: what the client was told to the end
	}
	spoilt := t.failed || t.broken
	switch {
	case whole == "":
	case spoilt && !strings.HasPrefix(whole, answer), !spoilt && answer != whole:
		o.add(AnswerWhole, "%s: the stored answer to %q is %q, and the whole one is %q", t.op, t.question, answer, whole)
		return
	}
	if !strings.HasPrefix(answer, t.text) {
		o.add(SeenKept, "%s: the client was told %q, and the stored answer is %q", t.op, t.text, answer)
	}
	for client := range o.agents { // order-independent: a client resumes a request once
		if replayed, ok := o.resume[client+" "+t.op]; ok && !strings.HasPrefix(answer, replayed) {
			o.add(ResumeAgrees, "%s: %s came back and got %q, and the stored answer is %q", t.op, client, replayed, answer)
		}
	}
}
