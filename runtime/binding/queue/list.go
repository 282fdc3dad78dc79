package queue

import (
	"slices"
	"strings"

	"minido.dev/minido/runtime/config"
)

// Info is a queue of a session: who sends to it, and what its consumer is.
type Info struct {
	Name string `json:"name"`
	// Producers are bindings: "worker.BINDING".
	Producers []string `json:"producers"`
	// Consumer is null for a queue that nobody consumes.
	Consumer *ConsumerInfo `json:"consumer"`
	// DeadLettersOf are the queues whose messages come here when they are given up.
	DeadLettersOf []string `json:"dead_letters_of"`
}

// ConsumerInfo is a consumer as it is configured, defaults included.
type ConsumerInfo struct {
	Worker          string  `json:"worker"`
	Type            string  `json:"type"` // "worker" or "http_pull"
	MaxBatchSize    float64 `json:"max_batch_size"`
	MaxBatchTimeout float64 `json:"max_batch_timeout"` // in seconds
	MaxRetries      float64 `json:"max_retries"`
	MaxConcurrency  float64 `json:"max_concurrency"`
	RetryDelay      float64 `json:"retry_delay"` // in seconds
	DeadLetterQueue string  `json:"dead_letter_queue,omitempty"`
}

// List names the queues of the workers that run together, by their names.
func List(projects []*config.Project) []Info {
	known := map[string]*Info{}
	of := func(name string) *Info {
		if known[name] == nil {
			known[name] = &Info{Name: name, Producers: []string{}, DeadLettersOf: []string{}}
		}
		return known[name]
	}
	for _, p := range projects {
		for _, b := range p.Bindings {
			if b.Kind == "queue" {
				q := of(queueName(b))
				q.Producers = append(q.Producers, p.Name+"."+b.Name)
			}
		}
		for _, c := range consumersOf(p) {
			if c.Type == "" {
				c.Type = "worker"
			}
			if q := of(c.Queue); q.Consumer == nil || q.Consumer.Type == httpPull {
				q.Consumer = &ConsumerInfo{c.Script, c.Type, c.MaxBatchSize, c.MaxBatchTimeout, c.MaxRetries, c.MaxConcurrency, c.RetryDelay, c.DeadLetterQueue}
			}
			if c.DeadLetterQueue != "" {
				q := of(c.DeadLetterQueue)
				q.DeadLettersOf = append(q.DeadLettersOf, c.Queue)
			}
		}
	}
	list := []Info{}
	for _, q := range known { // order-independent: sorted below
		if safeName.MatchString(q.Name) { // no other has a broker
			list = append(list, *q)
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return list
}
