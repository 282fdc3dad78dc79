package check

import "minido.dev/minido/chaos/transcript"

// chatChecker holds each chat agent's conversation against what its clients and
// the model saw.
type chatChecker struct{}

func (chatChecker) Name() string { return "chat" }

func (chatChecker) Doc() Doc {
	return Doc{"the messages and streams that a chat agent has stored", []Invariant{
		{transcript.QuestionKept, "if a client was shown part of an answer, the question is stored"},
		{transcript.OneAnswer, "each question has one answer"},
		{transcript.AnswerWhole, "the answer holds all that the model said, once"},
		{transcript.SeenKept, "the stored answer begins with what a client was shown"},
		{transcript.ResumeAgrees, "the stored answer also begins with what a client gets when it reconnects"},
		{transcript.TerminalOnce, "no part of an answer follows the frame that ends it"},
		{transcript.ToolOnce, "no tool call appears twice in a conversation"},
		{transcript.StreamEnded, "at rest, no stream is open"},
	}}
}

func (chatChecker) Applies(e Evidence) bool {
	for _, o := range e.Rest.Objects {
		if o.Chat.Chat {
			return true
		}
	}
	return false
}

func (c chatChecker) Check(e Evidence) []Violation {
	var chats []transcript.State
	for _, o := range e.Rest.Objects {
		if o.Chat.Chat {
			chats = append(chats, o.Chat)
		}
	}
	var out []Violation
	for _, v := range transcript.Check(e.Events, chats) {
		out = append(out, Violation{c.Name(), v.Invariant, v.Text})
	}
	return out
}
