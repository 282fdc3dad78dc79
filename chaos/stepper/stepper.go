package stepper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/runtime/world"
)

// Stepper walks a person through a simulation, forwards and backwards: it stops between
// two steps, shows what has happened, and does what it is told. Backwards is forwards
// from the start, without a word, to an earlier moment: a replay is exact. It belongs
// to the simulation's goroutine.
type Stepper struct {
	in   *bufio.Scanner
	out  io.Writer
	echo bool // in is no terminal, which shows what is typed

	system *sim.System
	seen   int    // lines that were shown or skipped
	until  string // what it runs to: an event, a point, or the end
	asked  bool

	moments []moment     // that have come; a person's stops are among them
	kills   map[int]bool // the moments at which the person killed the server
	watched []watch
	rewind  context.CancelCauseFunc // ends the run, so that another one begins
	to      int                     // the moment that is run to without a word; 0 for none
	seek    func(killpoint.Point) bool
	sought  string // what seek looks for, "" for nothing
	from    int    // where that began
	why     *origin
}

// moment is what happened between two steps. Moments count from 1.
type moment struct{ lines []string }

// What a Stepper runs to.
const (
	toEvent = "event"
	toPoint = "point"
	toEnd   = "end"
)

// ErrRewound ends a run so that it is run again, up to an earlier moment.
var ErrRewound = errors.New("back to an earlier moment")

// New returns one that reads commands from in, a line each, and writes to
// out. echo repeats the commands, for transcripts. At the end of in it goes on to
// the simulation's.
func New(in io.Reader, out io.Writer, echo bool) *Stepper {
	return &Stepper{in: bufio.NewScanner(in), out: out, echo: echo, until: toEvent, kills: map[int]bool{}}
}

// Attach begins a run; rewind ends it with ErrRewound.
func (p *Stepper) Attach(s *sim.System, rewind context.CancelCauseFunc) {
	p.system, p.rewind, p.seen, p.moments = s, rewind, 0, nil
	for i := range p.watched {
		p.watched[i].rows = ""
	}
	s.Sim.Between, s.Look = p.between, p.trace
}

const stepHelp = `n  next event             o  objects and what they do      w  who waits for what
p  next effect point      t  timers and alarms            k  kill the server here
b  back one event         goto 17, goto POINT             b 5  back five
c  go on to the end       sql Class/name SELECT ...       ?  this list
watch Class/name SELECT ...   stop whenever the rows change; watch off forgets it
why Class/name.table KEY      which turns wrote the row with this key, or with id = 3 AND ...
`

func (p *Stepper) say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.out, format, args...) // a terminal that is gone cannot be told
}

// between is called between two steps.
func (p *Stepper) between() {
	w := p.system.World
	if w == nil || w.Server == nil || p.rewind == nil {
		return
	}
	if _, dead := w.Dead(); dead {
		return
	}
	m, point := p.arrive()
	if len(m.lines) == 0 {
		return
	}
	now := len(p.moments)
	stop := p.until == toEvent || p.until == toPoint && point
	switch {
	case p.to > 0:
		stop = now == p.to
	case p.sought != "":
		stop = slices.ContainsFunc(points(m), p.seek)
	}
	changed := p.changes(m)
	if p.to == 0 || stop {
		p.show(m, stop || len(changed) > 0)
		for _, text := range changed {
			p.say("%s", text)
		}
	}
	if p.to == 0 {
		stop = stop || len(changed) > 0
	}
	if !stop {
		if p.kills[now] {
			p.system.World.Kill()
		}
		return
	}
	p.to, p.sought = 0, ""
	if p.why != nil {
		p.tellWhy()
	}
	p.prompt()
}

// arrive takes the lines that are new as the next moment, if there are any that say
// something, and reports whether one is an effect point.
func (p *Stepper) arrive() (m moment, point bool) {
	lines := p.system.Lines()
	for _, line := range lines[p.seen:] {
		_, text, _ := strings.Cut(line, " ")
		if strings.HasPrefix(text, "step ") {
			continue // which loop ran says nothing by itself
		}
		m.lines = append(m.lines, line)
		point = point || strings.HasPrefix(text, pointPrefix)
	}
	p.seen = len(lines)
	if len(m.lines) > 0 {
		p.moments = append(p.moments, m)
	}
	return m, point
}

const pointPrefix = "point "

// points are the effect points of a moment, in their order.
func points(m moment) (out []killpoint.Point) {
	for _, line := range m.lines {
		_, text, _ := strings.Cut(line, " ")
		if label, ok := strings.CutPrefix(text, pointPrefix); ok {
			if at, err := killpoint.ParseLabel(label); err == nil {
				out = append(out, at)
			}
		}
	}
	return out
}

// show prints a moment, unless it is passed on the way to the end or to a point that is
// sought.
func (p *Stepper) show(m moment, stops bool) {
	if !stops && (p.until == toEnd || p.sought != "") {
		return
	}
	for _, line := range m.lines {
		at, text, _ := strings.Cut(line, " ")
		p.say("%12s  %s\n", at, text)
	}
	if !p.asked {
		p.asked = true
		p.say("%s", stepHelp)
	}
}

// prompt does what it is told until the simulation goes on.
func (p *Stepper) prompt() {
	for {
		p.say("%d> ", len(p.moments))
		if !p.in.Scan() {
			p.until = toEnd
			p.watched = nil
			p.say("\n")
			return
		}
		command := strings.TrimSpace(p.in.Text())
		if p.echo {
			p.say("%s\n", command)
		}
		if p.do(command) {
			return
		}
	}
}

// do does a command, and reports whether the simulation goes on.
func (p *Stepper) do(command string) bool {
	verb, rest, _ := strings.Cut(command, " ")
	rest = strings.TrimSpace(rest)
	var err error
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
	case "b":
		by := 1
		if rest != "" {
			if by, err = strconv.Atoi(rest); err != nil || by < 1 {
				p.say("write b, or b and how many events to go back\n")
				return false
			}
		}
		return p.goTo(len(p.moments) - by)
	case "goto":
		if n, err := strconv.Atoi(rest); err == nil {
			return p.goTo(n)
		}
		return p.find(rest)
	case "k":
		p.say("SIGKILL after %v: what was not on disk is gone\n", p.system.Sim.Now().Sub(world.Epoch))
		p.kills[len(p.moments)] = true
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
		err = p.sql(rest)
	case "watch":
		err = p.watch(rest)
	case "why":
		var begun bool
		if begun, err = p.askWhy(rest); begun {
			return true
		}
	case "?":
		p.say("%s", stepHelp)
	default:
		p.say("%q is no command\n%s", verb, stepHelp)
	}
	if err != nil {
		p.say("%v\n", err)
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
func (p *Stepper) sql(text string) error {
	object, query, _ := strings.Cut(text, " ")
	if !strings.Contains(object, "/") || query == "" {
		return errors.New("write sql Class/name SELECT and what you want to see")
	}
	rows, err := p.query(object, query)
	if err != nil {
		return err
	}
	for _, row := range rows {
		p.say("%s\n", cells(row))
	}
	p.say("%d rows\n", len(rows))
	return nil
}

// query asks a copy of the database of an object, "Class/name".
func (p *Stepper) query(object, query string, args ...any) (rows []evidence.Row, err error) {
	class, name, _ := strings.Cut(object, "/")
	ref, err := p.system.World.Server.Find(class, name)
	if err != nil {
		return nil, err
	}
	db, err := evidence.Open(ref.File())
	if err != nil {
		return nil, err
	}
	rows, err = db.Query(query, args...)
	return rows, errors.Join(err, db.Close())
}

// cells are a row on a line.
func cells(row evidence.Row) string {
	var out []string
	for _, column := range slices.Sorted(maps.Keys(row)) {
		value := row[column]
		if blob, ok := value.([]byte); ok {
			value = fmt.Sprintf("x'%x'", blob)
		}
		out = append(out, fmt.Sprintf("%s=%v", column, value))
	}
	return strings.Join(out, "  ")
}
