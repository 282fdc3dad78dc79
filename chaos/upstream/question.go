package upstream

import "encoding/json"

// question is a request of an API that takes a list of messages. Its value is
// immutable.
type question struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Prompt   string `json:"prompt"` // of Workers AI alone
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// conversation has a turn for each message.
func (q question) conversation() Conversation {
	c := Conversation{Model: q.Model}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, t.Name+t.Function.Name) // one of the two forms
	}
	for _, m := range q.Messages {
		c.Turns = append(c.Turns, Turn{Role: m.Role, Text: contentText(m.Content)})
	}
	return c
}

func readQuestion(body []byte) (q question, err error) {
	err = json.Unmarshal(body, &q)
	return q, err
}
