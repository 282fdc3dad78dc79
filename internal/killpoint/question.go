package killpoint

import "bytes"

// Question is the cause of what is done for a question that a client asks again
// and again until it likes the answer. How often it does depends on the machine's
// speed, so these points count apart from all others, and nobody aims at them.
const Question = "question"

// QuestionMark marks such a question where it comes in: a request has a header of
// this name, a WebSocket message the text in it (a client of the agents SDK puts
// it into the id of a call). Only a process whose points are on looks for it.
const QuestionMark = "minido-question"

// Asked is the cause of a WebSocket message that came in: Question if it has the
// mark, else "". Off, it costs one predictable branch.
func (p *Points) Asked(message []byte) string {
	if p.On() && bytes.Contains(message, []byte(QuestionMark)) {
		return Question
	}
	return ""
}

// Inherited is what a turn's cause is to be that some other turn started, whose
// cause is given: Question passes on, "" stands for the event's own.
func Inherited(cause string) string {
	if cause == Question {
		return Question
	}
	return ""
}
