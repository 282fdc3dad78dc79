package campaign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// Stepper walks a person through a simulation: it stops between two steps, shows
// what has happened, and does what it is told. It belongs to the simulation's
// goroutine.
type Stepper struct {
	in   *bufio.Scanner
	out  io.Writer
	echo bool // in is no terminal, which shows what is typed

	system *sim.System
	seen   int    // lines that were shown or skipped
	until  string // what it runs to: an event, a point, or the end
	asked  bool
}

// What a Stepper runs to.
const (
	toEvent = "event"
	toPoint = "point"
	toEnd   = "end"
)

// NewStepper returns one that reads commands from in, a line each, and writes to
// out. echo repeats the commands, for transcripts. At the end of in it goes on to
// the simulation's.
func NewStepper(in io.Reader, out io.Writer, echo bool) *Stepper {
	return &Stepper{in: bufio.NewScanner(in), out: out, echo: echo, until: toEvent}
}

func (p *Stepper) attach(s *sim.System) {
	p.system = s
	s.Sim.Between = p.between
}

const stepHelp = `n  next event             o  objects and what they do      w  who waits for what
p  next effect point      t  timers and alarms            k  kill the server here
c  go on to the end       sql Class/name SELECT ...       ?  this list
`

func (p *Stepper) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format, args...) // a terminal that is gone cannot be told
}

// between is called between two steps.
func (p *Stepper) between() {
	w := p.system.World
	if w == nil || w.Server == nil || p.until == toEnd {
		return
	}
	if _, dead := w.Dead(); dead {
		return
	}
	stop := false
	lines := p.system.Lines()
	for _, line := range lines[p.seen:] {
		at, text, _ := strings.Cut(line, " ")
		if strings.HasPrefix(text, "step ") {
			continue // which loop ran says nothing by itself
		}
		p.say("%12s  %s\n", at, text)
		stop = stop || p.until == toEvent || strings.HasPrefix(text, "point ")
	}
	p.seen = len(lines)
	if !p.asked {
		p.asked = true
		p.say("%s", stepHelp)
	}
	for stop {
		p.say("> ")
		if !p.in.Scan() {
			p.until = toEnd
			p.say("\n")
			return
		}
		command := strings.TrimSpace(p.in.Text())
		if p.echo {
			p.say("%s\n", command)
		}
		stop = !p.do(command)
	}
}

// do does a command, and reports whether the simulation goes on.
func (p *Stepper) do(command string) bool {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "n", "":
		p.until = toEvent
		return true
	case "p":
		p.until = toPoint
		return true
	case "c":
		p.until = toEnd
		return true
	case "k":
		p.say("SIGKILL after %v: what was not on disk is gone\n", p.system.Sim.Now().Sub(world.Epoch))
		p.system.World.Kill()
		p.until = toEvent
		return true
	case "o":
		p.look(p.objects)
	case "t":
		p.look(p.timers)
	case "w":
		p.look(p.waits)
	case "sql":
		if err := p.sql(rest); err != nil {
			p.say("%v\n", err)
		}
	case "?":
		p.say("%s", stepHelp)
	default:
		p.say("%q is no command\n%s", verb, stepHelp)
	}
	return false
}

// look shows what the workers do, in columns.
func (p *Stepper) look(show func(io.Writer, server.Sight)) {
	all, err := p.system.World.Server.Look()
	if err != nil {
		p.say("%v\n", err)
	}
	columns := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, sight := range all {
		show(columns, sight)
	}
	_ = columns.Flush() // as say
}

func label(o pool.ObjectInfo) string {
	if o.Name != "" {
		return o.Class + "/" + o.Name
	}
	return o.Class + "/" + o.ID[:8]
}

func (p *Stepper) objects(out io.Writer, s server.Sight) {
	for _, o := range s.Objects {
		_, _ = fmt.Fprintf(out, "%s\t%s", label(o), o.State)
		if l := o.Live; l != nil {
			_, _ = fmt.Fprintf(out, "\t%d events, %d timers, %d KB", l.Events, l.Timers, l.DatabaseBytes>>10)
			if l.Busy != "" {
				_, _ = fmt.Fprintf(out, "\tbusy: %s", l.Busy)
			}
		}
		_, _ = fmt.Fprintln(out)
	}
	if len(s.Objects) == 0 {
		_, _ = fmt.Fprintln(out, "no objects")
	}
}

func (p *Stepper) timers(out io.Writer, s server.Sight) {
	now := p.system.Sim.Now()
	for _, t := range s.Timers {
		kind := "timer"
		if t.Repeat {
			kind = "interval"
		}
		of := t.Label
		if of == "" {
			of = "the worker " + s.Worker
		}
		_, _ = fmt.Fprintf(out, "in %v\t%s\t%s\n", t.At.Sub(now), kind, of)
	}
	for _, o := range s.Objects {
		if o.Alarm != nil {
			_, _ = fmt.Fprintf(out, "in %v\talarm\t%s\n", time.UnixMilli(*o.Alarm).Sub(now), label(o))
		}
	}
	if next, ok := p.system.Sim.Clock().Next(); ok {
		_, _ = fmt.Fprintf(out, "in %v\tthe next of any kind, with the clients' and the server's own\n", next.Sub(now))
	}
}

func (p *Stepper) waits(out io.Writer, s server.Sight) {
	if s.Requests > 0 {
		_, _ = fmt.Fprintf(out, "the worker %s\tanswers %d requests\n", s.Worker, s.Requests)
	}
	for _, o := range s.Objects {
		if l := o.Live; l != nil && len(l.Waiting) > 0 {
			_, _ = fmt.Fprintf(out, "%s\twaits for %s\n", label(o), strings.Join(l.Waiting, ", "))
		}
		if l := o.Live; l != nil && l.Awake != "" {
			_, _ = fmt.Fprintf(out, "%s\tstays awake: %s\n", label(o), l.Awake)
		}
	}
	for _, name := range p.system.Sim.Waiting() {
		_, _ = fmt.Fprintf(out, "outside: %s\twaits\n", name)
	}
}

// sql is "Class/name SELECT ...", of a copy of the object's database.
func (p *Stepper) sql(text string) (err error) {
	object, query, _ := strings.Cut(text, " ")
	class, name, ok := strings.Cut(object, "/")
	if !ok || query == "" {
		return errors.New("write sql Class/name SELECT and what you want to see")
	}
	ref, err := p.system.World.Server.Find(class, name)
	if err != nil {
		return err
	}
	db, err := evidence.Open(ref.File())
	if err != nil {
		return err
	}
	rows, err := db.Query(query)
	for _, row := range rows {
		var cells []string
		for _, column := range slices.Sorted(maps.Keys(row)) {
			cells = append(cells, fmt.Sprintf("%s=%v", column, row[column]))
		}
		p.say("%s\n", strings.Join(cells, "  "))
	}
	if err == nil {
		p.say("%d rows\n", len(rows))
	}
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	return err
}
