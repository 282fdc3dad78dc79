package inspector

import (
	"encoding/json"
	"strconv"

	"minido.dev/minido/internal/insides/reach"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/isolate"
)

// chunkBytes is how much of a snapshot an event has, as V8's.
const chunkBytes = 100 << 10

// Places in nodeTypes and edgeTypes, which V8's file format numbers.
const (
	objectNode, closureNode, stringNode, syntheticNode       = 3, 5, 2, 9
	contextEdge, elementEdge, propertyEdge, internalEdge int = 0, 1, 2, 3
)

const snapshotMeta = `{"node_fields":["type","name","id","self_size","edge_count","detachedness"],` +
	`"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string","sliced string","symbol","bigint","object shape"],"string","number","number","number","number"],` +
	`"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],` +
	`"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"trace_node_fields":["id","function_info_index","count","size","children"],` +
	`"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]}`

const nodeFields = 6

// takeSnapshot sends what the worker's JavaScript holds as a file of V8's heap snapshots.
// The worker stands still while it is listed, and goes on while it is sent.
func (c *client) takeSnapshot(ask call) {
	var p struct {
		Progress bool `json:"reportProgress"`
	}
	if !c.parameters(ask, &p) {
		return
	}
	c.in(ask, func(i *isolate.Isolate) {
		nodes, err := i.Memory.Reached()
		if err != nil {
			c.refuse(ask, "minido can't tell what is in memory: "+err.Error())
			return
		}
		sched.Attend(c.x.opts.Scheduler, "inspector snapshot", func() {
			if p.Progress {
				c.event("HeapProfiler.reportHeapSnapshotProgress", object{"done": len(nodes), "total": len(nodes), "finished": true})
			}
			for text := snapshot(nodes); len(text) > 0; {
				n := min(len(text), chunkBytes)
				for n < len(text) && text[n]&0xC0 == 0x80 { // not within a character
					n--
				}
				c.event("HeapProfiler.addHeapSnapshotChunk", object{"chunk": string(text[:n])})
				text = text[n:]
			}
			c.reply(ask, object{})
		})
	})
}

// snapshot is the list as V8's file format.
func snapshot(nodes []reach.Node) []byte {
	known, list := map[string]int{}, []string{}
	text := func(s string) int64 {
		n, ok := known[s]
		if !ok {
			n = len(list)
			known[s], list = n, append(list, s)
		}
		return int64(n)
	}
	row := func(b []byte, numbers ...int64) []byte {
		for _, n := range numbers {
			if b[len(b)-1] != '[' {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		return b
	}
	kinds := map[reach.Kind]int64{reach.Root: syntheticNode, reach.Object: objectNode, reach.Function: closureNode, reach.Scope: objectNode, reach.String: stringNode}
	all, edges := []byte(`"nodes":[`), []byte(`"edges":[`)
	count := 0
	for i := range nodes {
		n := &nodes[i]
		all = row(all, kinds[n.Kind], text(n.Name), int64(n.ID), int64(n.Size), int64(len(n.Edges)), 0)
		for _, e := range n.Edges {
			kind, name := internalEdge, int64(0)
			switch {
			case e.Element:
				kind, name = elementEdge, int64(e.Index)
			case e.Named:
				kind, name = propertyEdge, text(e.Name)
			case n.Kind == reach.Scope:
				kind, name = contextEdge, text(e.Label())
			default:
				name = text(e.Label())
			}
			edges = row(edges, int64(kind), name, int64(e.To*nodeFields))
			count++
		}
	}
	out := []byte(`{"snapshot":{"meta":` + snapshotMeta + `,"node_count":` + strconv.Itoa(len(nodes)) + `,"edge_count":` + strconv.Itoa(count) + `,"trace_function_count":0},` + "\n")
	out = append(append(append(append(out, all...), "],\n"...), edges...), "],\n"...)
	texts, _ := json.Marshal(list) // strings always have JSON
	out = append(out, `"trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[],"strings":`...)
	return append(append(out, texts...), '}')
}
