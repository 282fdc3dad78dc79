package event

// Email is an incoming message.
type Email struct {
	From, To string
	Raw      []byte
	Header   Header
}

// EmailActions are what an email handler does with its message, besides what it
// returns. They are called on the loop; done is called once.
type EmailActions struct {
	Reject  func(reason string)
	Forward func(recipient string, header Header, done func(messageID string, err error))
	Reply   func(from string, raw []byte, done func(messageID string, err error))
	// ReplyBuilt is Reply with a message that is yet to be made; builder is JSON.
	ReplyBuilt func(builder []byte, done func(messageID string, err error))
}
