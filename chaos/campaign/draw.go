package campaign

import (
	"strconv"
	"time"

	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/entropy"
)

// drawing makes plans out of what a clean run has passed. Confined to one
// goroutine.
type drawing struct {
	source  entropy.Source
	clean   Case
	sim     bool
	sources []weighted
}

// weighted is a kind of fault, and how often it is drawn among the others.
type weighted struct {
	weight int
	draw   func() fault.Fault
}

// newDrawing weighs the faults that the campaign's world has: half of them kill.
func newDrawing(source entropy.Source, clean Case, o Options) *drawing {
	d := &drawing{source: source, clean: clean, sim: o.Mode == Sim}
	add := func(has bool, weight int, draw func() fault.Fault) {
		if has {
			d.sources = append(d.sources, weighted{weight, draw})
		}
	}
	add(len(clean.Points) > 0, 8, func() fault.Fault { return d.at("kill") })
	add(d.sim && len(clean.Points) > 0, 2, func() fault.Fault { return d.at("power") })
	add(true, 2, func() fault.Fault { return fault.Fault{After: d.time()} })
	for _, k := range fault.Kinds() {
		add(len(k.Draws) > 0, k.Weight, func() fault.Fault { return d.at(k.Draws...) })
	}
	add(o.AI != nil && clean.Asked > 0, 3, func() fault.Fault { return fault.Fault{Upstream: d.answer(clean.Asked)} })
	add(o.SinkVar != "" && clean.Effects > 0, 2, func() fault.Fault { return fault.Fault{Upstream: d.answer(clean.Effects), Sink: true} })
	return d
}

// plans draws so many. Every third has a kill after its fault, at a time.
func (d *drawing) plans(runs int) []fault.Plan {
	var out []fault.Plan
	for range runs {
		p := fault.Plan{d.fault()}
		if d.number(3) == 0 {
			p = append(p, fault.Fault{After: d.time()})
		}
		out = append(out, p)
	}
	return out
}

func (d *drawing) fault() fault.Fault {
	total := 0
	for _, s := range d.sources {
		total += s.weight
	}
	n := d.number(total)
	for _, s := range d.sources {
		if n -= s.weight; n < 0 {
			return s.draw()
		}
	}
	panic("campaign: no fault was drawn") // n is below the sum of the weights
}

// number is one of 0 to below-1.
func (d *drawing) number(below int) int {
	if below < 1 {
		return 0
	}
	return int(d.source.Uint64() % uint64(below))
}

// time is one within the clean run.
func (d *drawing) time() time.Duration {
	return time.Duration(1+d.number(int(d.clean.Ms))) * time.Millisecond
}

// at is one of the kinds, at a point of the clean run where it can happen; a kill
// if there is none. The orders of simulations differ, so that deaths have points
// named by their number there: one that a run does not reach has killed nothing.
// What happens to an effect needs one of that kind.
func (d *drawing) at(kinds ...string) fault.Fault {
	f, err := fault.ParseKind(kinds[d.number(len(kinds))])
	if err != nil {
		panic(err) // the kinds are constants
	}
	var points []string
	for i, label := range d.clean.Points {
		if f.Point = label; !f.Happens() {
			continue
		}
		if d.sim && f.IsKill() {
			label = strconv.Itoa(i + 1)
		}
		points = append(points, label)
	}
	if len(points) == 0 {
		return fault.Fault{After: d.time()}
	}
	f.Point = points[d.number(len(points))]
	return f
}

// maxSpoilt bounds the byte at which an answer is spoilt, and maxWait how long it
// is held up, in milliseconds.
const (
	maxSpoilt = 1500
	maxWait   = 300
)

// answer is a fault of one of an upstream's answers.
func (d *drawing) answer(requests int) *upstream.Fault {
	f := &upstream.Fault{Request: 1 + d.number(requests)}
	verbs := []upstream.Verb{upstream.Refuse, upstream.Cut, upstream.Truncate, upstream.Slice, upstream.Stall, upstream.Slow, upstream.Status}
	switch f.Verb = verbs[d.number(len(verbs))]; f.Verb {
	case upstream.Cut, upstream.Truncate:
		f.Byte = d.number(maxSpoilt)
	case upstream.Slice:
		f.Byte = 1 + d.number(40)
	case upstream.Stall:
		f.Piece, f.For = d.number(10), time.Duration(1+d.number(maxWait))*time.Millisecond
	case upstream.Slow:
		f.For = time.Duration(1+d.number(maxWait/10)) * time.Millisecond
	case upstream.Status:
		f.Status = []int{429, 500, 503}[d.number(3)]
	}
	return f
}
