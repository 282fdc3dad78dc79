// Package draw makes random plans of faults from the effect points of a run without
// faults and from plans of the corpus.
package draw

import (
	"slices"
	"strconv"
	"time"

	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/entropy"
)

// From is what there is to draw from. Immutable.
type From struct {
	// Points are the labels of the effect points of a run without faults, Took how long it took,
	// Asked and Effects how many requests came to the scripted model and to the effect sink; 0
	// where there is none.
	Points         []string
	Took           time.Duration
	Asked, Effects int
	// Sim says that plans are for simulations.
	Sim bool
	// Limit is how long a life may take until it is at rest; 0 is no limit. Faults that hold
	// it up until then would tell of nothing else.
	Limit time.Duration
}

// Drawing makes plans. Confined to one goroutine.
type Drawing struct {
	source  entropy.Source
	from    From
	sources []weighted
}

// weighted is a kind of fault, and how often it is drawn among the others.
type weighted struct {
	weight int
	draw   func() fault.Fault
}

// New weighs the faults that there are: half of them kill.
func New(source entropy.Source, from From) *Drawing {
	d := &Drawing{source: source, from: from}
	add := func(has bool, weight int, draw func() fault.Fault) {
		if has {
			d.sources = append(d.sources, weighted{weight, draw})
		}
	}
	add(len(from.Points) > 0, 8, func() fault.Fault { return d.at("kill") })
	add(d.from.Sim && len(from.Points) > 0, 2, func() fault.Fault { return d.at("power") })
	add(len(from.Points) > 0, 1, func() fault.Fault { return d.at("skew(" + d.skew().String() + ")") })
	add(true, 2, func() fault.Fault { return fault.Fault{After: d.time()} })
	for _, k := range fault.Kinds() {
		forms := slices.DeleteFunc(slices.Clone(k.Draws), func(form string) bool {
			f, err := fault.ParseKind(form)
			return err != nil || !from.fits(fault.Plan{f})
		})
		add(len(forms) > 0, k.Weight, func() fault.Fault { return d.at(forms...) })
	}
	add(from.Asked > 0, 3, func() fault.Fault { return fault.Fault{Upstream: d.answer(from.Asked)} })
	add(from.Effects > 0, 2, func() fault.Fault { return fault.Fault{Upstream: d.answer(from.Effects), Sink: true} })
	return d
}

// fits reports whether a run can come to rest within the limit whose faults all hold it up.
func (f From) fits(p fault.Plan) bool {
	took := f.Took
	for _, one := range p {
		took += one.HoldsUp()
	}
	return f.Limit == 0 || took < f.Limit
}

// Plans draws so many. Every third has a kill after its fault, at a time.
func (d *Drawing) Plans(runs int) []fault.Plan {
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

func (d *Drawing) fault() fault.Fault {
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
	panic("draw: no fault was drawn") // n is below the sum of the weights
}

// number is one of 0 to below-1.
func (d *Drawing) number(below int) int {
	if below < 1 {
		return 0
	}
	return int(d.source.Uint64() % uint64(below))
}

// time is one within the clean run.
func (d *Drawing) time() time.Duration {
	return time.Duration(1+d.number(int(d.from.Took.Milliseconds()))) * time.Millisecond
}

// maxSkew bounds how far the clocks of two machines are apart.
const maxSkew = 5 * time.Second

// skew is how far a machine's clock is ahead, or behind: often some milliseconds, seldom
// seconds.
func (d *Drawing) skew() time.Duration {
	most := int(maxSkew.Milliseconds()) >> (4 * d.number(3))
	ahead := time.Duration(1+d.number(most)) * time.Millisecond
	if d.number(2) == 0 {
		return -ahead
	}
	return ahead
}

// at is one of the kinds, at a point of the clean run where it can happen; a kill
// if there is none. The orders of simulations differ, so that deaths have points
// named by their number there: one that a run does not reach has killed nothing.
// What happens to an effect needs one of that kind.
func (d *Drawing) at(kinds ...string) fault.Fault {
	f, err := fault.ParseKind(kinds[d.number(len(kinds))])
	if err != nil {
		panic(err) // the kinds are constants
	}
	var points []string
	for i, label := range d.from.Points {
		if f.Point = label; !f.Happens() {
			continue
		}
		if d.from.Sim && f.IsKill() {
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
func (d *Drawing) answer(requests int) *upstream.Fault {
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

// maxFaults bounds the faults of a plan that is made of another.
const maxFaults = 3

// Guided is the next plan: every second is made of one of the corpus, if it has any.
func (d *Drawing) Guided(c *corpus.Corpus) fault.Plan {
	known := c.Entries()
	if len(known) == 0 || d.number(2) == 0 {
		return d.Plans(1)[0]
	}
	e := known[d.number(len(known))]
	p, err := fault.ParsePlan(e.Plan)
	if err != nil {
		return d.Plans(1)[0] // the run of no plan
	}
	full := len(p) >= maxFaults
	switch n := d.number(4); {
	case n == 0 || len(p) == 0: // in another order of events
	case n == 1 && !full && len(e.Points) > 0: // a death in its last life
		p = append(p, fault.Fault{Point: e.Points[d.number(len(e.Points))]})
	case n == 2 && !full:
		p = append(p, d.fault())
	default:
		p[len(p)-1] = d.fault()
	}
	if len(p) == 0 || !d.from.fits(p) {
		return d.Plans(1)[0]
	}
	return p
}
