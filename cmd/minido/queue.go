package main

import (
	"context"

	"minido.dev/minido/runtime/control"
)

// queueCommand is `minido queue`: the queues of a running server.
type queueCommand struct {
	Pause  queuePause  `cmd:"" help:"Pause the delivery of a queue's messages."`
	Resume queueResume `cmd:"" help:"Resume the delivery of a queue's messages."`
}

// Help implements kong's HelpProvider.
func (queueCommand) Help() string {
	return `Controls the queues of the server that "minido dev" runs for this project. A pause lasts until the delivery is resumed, also
over restarts. Consumers with "type": "http_pull" fetch their messages from the server's control address, with its token:
POST /client/v4/accounts/ANY/queues/NAME/messages/pull, and .../ack. docs/control.md says where to find the address and the token.`
}

type queueFlags struct {
	Queue  string `arg:"" help:"The queue's name."`
	Server string `placeholder:"URL" help:"Control address of the server, if several run. Default: the one whose project contains this directory."`
}

func (f *queueFlags) post(path string) error {
	ctl := &ctlCommand{Server: f.Server}
	return ctl.with(func(ctx context.Context, client *control.Client) error {
		return client.Post(ctx, path, control.QueueRequest{Queue: f.Queue}, nil)
	})
}

type queuePause struct{ queueFlags }

// Run implements kong's command interface.
func (c *queuePause) Run() error { return c.post("/v1/queue/pause") }

type queueResume struct{ queueFlags }

// Run implements kong's command interface.
func (c *queueResume) Run() error { return c.post("/v1/queue/resume") }
