package inspector

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/google/pprof/profile"

	"minido.dev/minido/runtime/isolate"
)

// profiling is the CPU profile that is being taken. goja has one for the process, so
// there is one at a time. Safe for concurrent use.
type profiling struct {
	mu      sync.Mutex // guards the rest
	by      *client    // nil: none
	startUs int64
	out     bytes.Buffer
}

// drop ends the profile of a client that is gone.
func (p *profiling) drop(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == c {
		goja.StopProfile()
		p.by = nil
	}
}

func (c *client) startProfile(ask call) {
	p := &c.x.profiling
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.by {
	case nil:
		p.out.Reset()
		if err := goja.StartProfile(io.Writer(&p.out)); err != nil {
			c.refuse(ask, "minido: "+err.Error())
			return
		}
		p.by, p.startUs = c, c.x.opts.Machine.Now().UnixMicro()
	case c: // as V8: it goes on
	default:
		c.refuse(ask, "minido: Profiler.start: another client is taking a profile")
		return
	}
	c.reply(ask, object{})
}

func (c *client) stopProfile(ask call) {
	p := &c.x.profiling
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by != c {
		c.refuse(ask, "No recording profiles found") // the reference's text
		return
	}
	goja.StopProfile()
	p.by = nil
	taken, err := profile.Parse(&p.out)
	if err != nil && p.out.Len() > 0 {
		c.refuse(ask, "minido: "+err.Error())
		return
	}
	start, end := p.startUs, c.x.opts.Machine.Now().UnixMicro()
	c.in(ask, func(i *isolate.Isolate) {
		c.reply(ask, object{"profile": cpuProfile(taken, i.MapPosition, start, end)})
	})
}

// node is a Profiler.ProfileNode.
type node struct {
	ID        int            `json:"id"`
	CallFrame object         `json:"callFrame"`
	Hits      int64          `json:"hitCount"`
	Children  []int          `json:"children,omitempty"`
	Ticks     []positionTick `json:"positionTicks,omitempty"`

	below map[string]*node
	us    int64
}

type positionTick struct {
	Line  int   `json:"line"`
	Ticks int64 `json:"ticks"`
}

// cpuProfile is a Profiler.Profile of what goja has sampled, with positions of the
// sources. goja does not keep the order of its samples: those of a node stand
// together here, and the time in which no JavaScript ran stands last.
func cpuProfile(taken *profile.Profile, mapped func(file string, line, column int) (string, int, int, bool), startUs, endUs int64) object {
	var nodes []*node
	add := func(frame object) *node {
		n := &node{ID: len(nodes) + 1, CallFrame: frame, below: map[string]*node{}}
		nodes = append(nodes, n)
		return n
	}
	native := func(name string) object {
		return object{"functionName": name, "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1}
	}
	root := add(native("(root)"))
	child := func(of *node, key string, frame func() object) *node {
		n := of.below[key]
		if n == nil {
			n = add(frame())
			of.below[key] = n
			of.Children = append(of.Children, n.ID)
		}
		return n
	}
	var samples []*profile.Sample
	if taken != nil {
		samples = taken.Sample
	}
	for _, s := range samples {
		at, line := root, 0
		for _, l := range slices.Backward(s.Location) {
			if len(l.Line) == 0 || l.Line[0].Function == nil {
				continue
			}
			fn := l.Line[0].Function
			name := strings.TrimSuffix(fn.Name, "."+strconv.FormatUint(fn.ID, 10))
			if name == "<anonymous>" {
				name = ""
			}
			file, column := fn.Filename, 1
			line = int(l.Line[0].Line)
			if source, row, col, ok := mapped(file, line, column); ok {
				file, line, column = source, row, col
			}
			at = child(at, strconv.FormatUint(fn.ID, 10), func() object {
				if strings.HasPrefix(file, "minido:") || file == "" {
					return native(name)
				}
				return callFrame(name, file, line, column)
			})
		}
		at.Hits += s.Value[0]
		at.us += s.Value[1] / 1000
		if line > 0 && at != root {
			at.Ticks = append(at.Ticks, positionTick{line, s.Value[0]})
		}
	}
	ids, deltas, used := []int{}, []int64{}, int64(0)
	for _, n := range nodes {
		for range n.Hits {
			ids = append(ids, n.ID)
			deltas = append(deltas, n.us/n.Hits)
			used += n.us / n.Hits
		}
	}
	if rest := endUs - startUs - used; rest > 0 {
		idle := child(root, "(idle)", func() object { return native("(idle)") })
		idle.Hits = 1
		ids, deltas = append(ids, idle.ID), append(deltas, rest)
	}
	return object{"nodes": nodes, "startTime": startUs, "endTime": endUs, "samples": ids, "timeDeltas": deltas}
}
