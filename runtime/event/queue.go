package event

// QueueBatch is what a queue handler is called with.
type QueueBatch struct {
	Queue    string
	Messages []QueueMessage
	// Metrics is JSON of batch.metadata.metrics, its oldestMessageTimestamp in
	// milliseconds since the epoch; nil if nothing is known.
	Metrics []byte
}

// QueueMessage is one message of a batch.
type QueueMessage struct {
	ID          string
	TimestampMs int64
	// ContentType is "text", "json", "bytes" or "v8": what Body is.
	ContentType string
	Body        []byte
	Attempts    int // deliveries, this one included
}

// QueueResult is what the handler has said of a batch (workerd: api/queue.h,
// QueueResponse).
type QueueResult struct {
	// Outcome is "ok", or "exception" if the handler threw.
	Outcome    string       `json:"outcome"`
	AckAll     bool         `json:"ackAll"`
	RetryBatch QueueRetry   `json:"retryBatch"`
	Retries    []QueueRetry `json:"retryMessages"`
	Acks       []string     `json:"explicitAcks"`
}

// QueueRetry asks for a redelivery, of the batch or of one message.
type QueueRetry struct {
	Retry        bool     `json:"retry,omitempty"` // of the batch
	MessageID    string   `json:"msgId,omitempty"` // of one message
	DelaySeconds *float64 `json:"delaySeconds,omitempty"`
}
