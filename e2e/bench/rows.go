package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// row is one thing to measure on each target.
type row struct {
	name   string
	unit   string
	better direction
	goal   string // what minido is meant to reach; "" if nobody said
	floor  bool   // whether the bare server can be measured too
	run    func(ctx context.Context, b *bench, t *target) (cell, error)
}

// direction says which of two figures is the better one.
type direction int

const (
	lower direction = iota
	higher
)

// cell is what was measured: a median or a rate, and what goes with it.
type cell struct {
	Value float64 `json:"value"`
	Min   float64 `json:"min,omitempty"` // of the repetitions; 0 where there are none
	Max   float64 `json:"max,omitempty"`
	Note  string  `json:"note,omitempty"`
	Error string  `json:"error,omitempty"` // why there is no value
}

// result is a finished row.
type result struct {
	row
	cells []cell // one for each of bench.targets' names, in their order
}

var rows = []row{
	{"hello: start to first response", "ms", lower, "≤ 100", false, startRow(func(b *bench) *project { return b.hello }, "/", 200, coldCache)},
	{"hello, prebuilt: start to first response", "ms", lower, "≤ 100", false,
		startRow(func(b *bench) *project { return b.hello.asPrebuilt() }, "/", 200, coldCache)},
	{"agents, TypeScript, cold cache: start to first response", "ms", lower, "≤ 1,000", false,
		startRow(func(b *bench) *project { return b.fibers }, "/", 404, coldCache)},
	{"agents, TypeScript, warm cache: start to first response", "ms", lower, "≤ 1,000", false,
		startRow(func(b *bench) *project { return b.fibers }, "/", 404, warmCache)},
	{"agents, prebuilt, cold cache: start to first response", "ms", lower, "≤ 600", false,
		startRow(func(b *bench) *project { return b.fibers.asPrebuilt() }, "/", 404, coldCache)},
	{"agents, prebuilt, warm cache: start to first response", "ms", lower, "≤ 600", false,
		startRow(func(b *bench) *project { return b.fibers.asPrebuilt() }, "/", 404, warmCache)},
	{"agents, TypeScript: start to an agent's first answer", "ms", lower, "", false,
		startRow(func(b *bench) *project { return b.fibers }, "/agents/research-agent/first/done", 200, warmCache)},
	{"agents: restart to fiber recovered, alarm overdue", "ms", lower, "", false, recoveryRow(overdue)},
	{"agents: SIGKILL to fiber recovered, alarm to come", "ms", lower, "", false, recoveryRow(atOnce)},
	{"hello: requests, 16 connections", "1/s", higher, "≥ 12,000", true, loadRow((*bench).helloLoad)},
	{"hello: requests, 1 connection", "1/s", higher, "", true, loadRow((*bench).helloAlone)},
	{"object: calls that do nothing, 16 connections", "1/s", higher, "≥ 2,700", false, loadRow((*bench).noopLoad)},
	{"object: calls with one durable INSERT, 16 connections", "1/s", higher, "≥ 2,900", false, loadRow((*bench).insertLoad)},
	{"object: hibernatable WebSocket echoes, 16 sockets", "1/s", higher, "≥ 12,500", true, loadRow((*bench).socketLoad)},
	{"stub.fetch() from the worker to an object and back", "µs", lower, "≤ 154", false, loopRow("fetch", 100)},
	{"RPC call from the worker to an object and back", "µs", lower, "≤ 110", false, loopRow("rpc", 100)},
	{"a new object, until its first answer", "µs", lower, "≤ 3,100", false, loopRow("create", 20)},
	{"in an object: SQL point select", "µs", lower, "≤ 11", false, loopRow("select", 2000)},
	{"in an object: SQL insert of one row", "µs", lower, "≤ 9", false, loopRow("insert", 2000)},
	{"in an object: await storage.get()", "µs", lower, "≤ 10", false, loopRow("get", 2000)},
	{"in an object: storage.kv.get()", "µs", lower, "≤ 4", false, loopRow("kvget", 2000)},
	{"new URL() and its pathname", "µs", lower, "", false, loopRow("url", 500)},
	{"Headers: made of 3, append, set, get, iterated", "µs", lower, "", false, loopRow("headers", 500)},
	{"JSON.parse of 100 KB", "µs", lower, "≤ 3 ×", false, loopRow("parse", 10)},
	{"JSON.stringify to 100 KB", "µs", lower, "≤ 3 ×", false, loopRow("stringify", 10)},
	{"TextDecoder: 1 MB", "µs", lower, "≤ 3 ×", false, loopRow("decode", 10)},
	{"SHA-256 of 1 MB", "µs", lower, "≤ 3 ×", false, loopRow("sha256", 10)},
	{"a chunk through a ReadableStream and a TransformStream", "µs", lower, "", false, loopRow("chunks", 1000)},
	{"hello: resident memory, idle", "MB", lower, "≤ 45", false, memoryRow(func(b *bench) *project { return b.hello }, "/", 200)},
	{"agents: resident memory, idle", "MB", lower, "≤ 120", false, memoryRow(func(b *bench) *project { return b.fibers }, "/", 404)},
	{"agents: resident memory with one agent", "MB", lower, "", false,
		memoryRow(func(b *bench) *project { return b.fibers }, "/agents/research-agent/first/done", 200)},
	{"memory of an open WebSocket, hibernatable, one of 500", "kB", lower, "≤ 80", false, socketMemoryRow("socket", 500)},
	{"memory of an open WebSocket, not hibernatable, one of 500", "kB", lower, "≤ 80", false, socketMemoryRow("classic", 500)},
	{"memory of a live object, one of 1,000", "kB", lower, "≤ 48", false, objectRow("noop", 1000, func(b *bench) *project { return b.objects })},
	{"memory of a live object with a table, one of 300", "kB", lower, "", false,
		objectRow("insert", 300, func(b *bench) *project { return b.objects })},
	{"memory of a live agent, one of 100", "kB", lower, "", false,
		objectRow("agent", 100, func(b *bench) *project { return b.fibers })},
}

// measureRows measures row by row, so that what is compared was measured
// within the same seconds.
func (b *bench) measureRows(ctx context.Context) ([]result, error) {
	var out []result
	for _, r := range rows {
		res, any := result{row: r}, false
		for _, t := range b.targets {
			c := cell{}
			switch {
			case t.name == "bare Go" && !r.floor, !b.selects(r.name, t.name):
			case t.missing != "":
				any = true
				c.Error = t.missing
			default:
				any = true
				fmt.Fprintf(os.Stderr, "%s: %s\n", r.name, t.name)
				var err error
				if c, err = r.run(ctx, b, t); err != nil {
					fmt.Fprintf(os.Stderr, "  %v\n", err)
					c.Error = "failed"
				}
			}
			if err := ctx.Err(); err != nil {
				return nil, errors.New("interrupted")
			}
			res.cells = append(res.cells, c)
		}
		if any {
			out = append(out, res)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-only %s: no row has this in its name", b.only)
	}
	return out, nil
}

// spread is the median of values, with their range.
func spread(values []float64) cell {
	slices.Sort(values)
	n := len(values)
	median := (values[(n-1)/2] + values[n/2]) / 2
	return cell{Value: median, Min: values[0], Max: values[n-1], Note: fmt.Sprintf("%d runs, %.0f–%.0f", n, values[0], values[n-1])}
}
