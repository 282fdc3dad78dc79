package cli

import "time"

// Once is `minido chaos run`. Its fields are kong's; a zero value is filled by
// parsing.
type Once struct {
	Project string `arg:"" help:"The project's directory, or its wrangler file."`
	Args    string `arg:"" optional:"" name:"arguments" help:"Arguments of --call, as a JSON array."`

	Call string `placeholder:"METHOD" help:"Call this method of the agent (one with @callable) over WebSocket."`
	Chat string `placeholder:"TEXT" help:"Send this message to the agent (an AIChatAgent)."`
	On   string `required:"" placeholder:"CLASS/NAME" help:"The agent, as in its URL, for example research-agent/r1."`

	KillAt           string        `placeholder:"POINT" help:"SIGKILL the server at this effect point: a label such as 'commit:after(Agent/a1)/alarm#2', or its number."`
	KillAfter        time.Duration `placeholder:"TIME" help:"SIGKILL it so long after the call was answered, for example 2s."`
	KillAtCheckpoint int           `placeholder:"N" help:"SIGKILL it when a fiber has stored N checkpoints. This is the default, with N = 2."`
	Kills            int           `default:"1" help:"How many times to kill it, each time in the same way."`
	Recover          string        `enum:"alarm,request" default:"alarm" help:"After a restart, alarm: touch nothing, the agent has to wake by itself; request: connect at once."`
	ListPoints       bool          `help:"Run once without a kill and list the effect points at which the server can be killed."`

	Env     string        `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
	Var     []string      `placeholder:"KEY:VALUE" help:"Set a variable; may be repeated." sep:"none"`
	Timeout time.Duration `default:"2m" help:"Limit of each wait: for the kill, and for the agent's rest after it."`
	Dir     string        `placeholder:"DIR" help:"Directory of the evidence, which must not hold a run yet. Default: a new one below minido-out."`
}

// Help implements kong's HelpProvider.
func (Once) Help() string {
	return `Drives an agent, kills the server with SIGKILL in the middle, starts it again on the same files, waits until
the agent is at rest, and checks what must hold: the recovery hook runs once for each interrupted fiber, with its last
checkpoint; no row is left behind; an alarm is set while a fiber runs.

  minido chaos run . '["tides"]' --call startResearch --on research-agent/r1
  minido chaos run . --chat "hello" --on chat-agent/c1 --kill-after 2s --recover request
  minido chaos run . '["tides"]' --call startResearch --on research-agent/r1 --list-points

Exit codes: 0 everything held, 1 an invariant was violated, 2 wrong flags, configuration or project, 3 the harness or
the server failed by itself, 4 the agent never came to rest, 5 the moment of the kill did not come, 128+n signal n.`
}
