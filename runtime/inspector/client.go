package inspector

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"minido.dev/minido/internal/netx"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/isolate"
)

// contextID is the one execution context that clients see.
const contextID = 1

// client is one connection. serve's goroutine reads; write may be called from any.
type client struct {
	x    *Inspector
	conn *netx.Conn
	left chan struct{} // closed when the client is gone

	mu      sync.Mutex // of writing, and of what follows
	logging bool
	unwatch func() // of the network; nil: it is not watched
}

type call struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type object map[string]any

func (c *client) serve() {
	defer close(c.left)
	defer c.noNetwork()
	for {
		m, err := c.conn.ReadMessage()
		if err != nil {
			return // closed, by either side
		}
		var ask call
		if err := json.Unmarshal(m.Data, &ask); err != nil {
			c.write(object{"error": protocolError{-32700, "Message must be a valid JSON"}})
			continue
		}
		c.answer(ask)
	}
}

// write sends a message. A client that is gone is noticed by serve.
func (c *client) write(message object) {
	text, err := json.Marshal(message)
	if err != nil {
		text = []byte(`{"error":{"code":-32603,"message":"the answer has no JSON"}}`)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.conn.WriteMessage(event.Message{Data: text})
}

func (c *client) event(method string, params object) {
	c.write(object{"method": method, "params": params})
}
func (c *client) reply(ask call, result object) { c.write(object{"id": ask.ID, "result": result}) }
func (c *client) refuse(ask call, text string) {
	c.write(object{"id": ask.ID, "error": protocolError{-32000, text}})
}

// harmless are methods that clients call to set what never happens here.
var harmless = map[string]bool{
	"Runtime.runIfWaitingForDebugger": true, "Runtime.disable": true,
	"Runtime.setAsyncCallStackDepth": true, "Runtime.discardConsoleEntries": true, "Runtime.setMaxCallStackSizeToCapture": true,
	"Debugger.disable": true, "Debugger.setAsyncCallStackDepth": true, "Debugger.setBlackboxPatterns": true, "Debugger.setBreakpointsActive": true,
	"Debugger.setSkipAllPauses": true, "Log.enable": true, "Log.disable": true, "Profiler.enable": true, "Profiler.disable": true, "Profiler.setSamplingInterval": true,
	"HeapProfiler.enable": true, "HeapProfiler.disable": true, "HeapProfiler.collectGarbage": true,
	"NodeWorker.enable": true, "NodeWorker.disable": true, "NodeTracing.start": true, "NodeRuntime.notifyWhenWaitingForDisconnect": true, "Debugger.setPauseOnExceptions": true,
}

func (c *client) answer(ask call) {
	switch ask.Method {
	case "Runtime.enable":
		c.event("Runtime.executionContextCreated", object{"context": object{"id": contextID, "origin": "", "name": c.x.opts.Title, "uniqueId": c.x.id, "auxData": object{"isDefault": true}}})
		c.reply(ask, object{})
		c.follow()
	case "Runtime.evaluate":
		c.evaluate(ask)
	case "Runtime.compileScript":
		c.reply(ask, object{}) // the console asks whether a line is complete
	case "Runtime.getIsolateId":
		c.reply(ask, object{"id": c.x.id})
	case "Runtime.getHeapUsage":
		used := engine.HeapBytes()
		c.reply(ask, object{"usedSize": used, "totalSize": used, "embedderHeapUsedSize": 0, "backingStorageSize": 0})
	case "Runtime.callFunctionOn":
		c.callFunctionOn(ask)
	case "Runtime.getProperties":
		c.getProperties(ask)
	case "Runtime.releaseObject", "Runtime.releaseObjectGroup":
		c.release(ask)
	case "Debugger.enable":
		for _, name := range slices.Sorted(maps.Keys(c.x.opts.Sources())) {
			source := string(c.x.opts.Sources()[name])
			c.event("Debugger.scriptParsed", object{"scriptId": name, "url": fileURL(name), "startLine": 0, "startColumn": 0,
				"endLine": strings.Count(source, "\n"), "endColumn": 0, "executionContextId": contextID, "hash": "", "isModule": true, "length": len(source)})
		}
		c.reply(ask, object{"debuggerId": c.x.id})
	case "Debugger.getScriptSource":
		var p struct {
			ScriptID string `json:"scriptId"`
		}
		source, known := []byte(nil), false
		if json.Unmarshal(ask.Params, &p) == nil {
			source, known = c.x.opts.Sources()[p.ScriptID]
		}
		if !known {
			c.refuse(ask, "No script with given id found")
			return
		}
		c.reply(ask, object{"scriptSource": string(source)})
	case "Debugger.setBreakpoint", "Debugger.setBreakpointByUrl", "Debugger.setBreakpointOnFunctionCall", "Debugger.setInstrumentationBreakpoint", "Debugger.pause", "Debugger.getPossibleBreakpoints":
		c.refuse(ask, "minido: "+ask.Method+": the engine has no breakpoints and does not pause; log, or evaluate expressions between turns")
	case "HeapProfiler.takeHeapSnapshot":
		c.takeSnapshot(ask)
	case "HeapProfiler.startSampling", "HeapProfiler.startTrackingHeapObjects":
		c.refuse(ask, "minido: "+ask.Method+": the engine does not tell of allocations; take heap snapshots, and compare two of them")
	case "Profiler.startPreciseCoverage", "Profiler.getBestEffortCoverage":
		c.refuse(ask, "minido: "+ask.Method+": there is no coverage over the inspector; minido test --coverage measures it")
	case "Network.enable":
		c.network(ask)
	case "Network.disable":
		c.noNetwork()
		c.reply(ask, object{})
	case "Network.getResponseBody", "Network.getRequestPostData":
		c.body(ask)
	case "Profiler.start":
		c.startProfile(ask)
	case "Profiler.stop":
		c.stopProfile(ask)
	default:
		if harmless[ask.Method] {
			c.reply(ask, object{})
			return
		}
		c.write(object{"id": ask.ID, "error": protocolError{-32601, "'" + ask.Method + "' wasn't found: minido's inspector does not have it"}})
	}
}

// follow tells the client, once it asked, what workers have logged and log.
func (c *client) follow() {
	c.mu.Lock()
	started := c.logging
	c.logging = true
	c.mu.Unlock()
	if started {
		return
	}
	stop := c.x.opts.Feed.WatchLogs(true)
	sched.Attend(c.x.opts.Scheduler, "inspector log", func() {
		defer stop()
		defer c.x.worker(func(i *isolate.Isolate) { i.ReleaseGroup(isolate.ConsoleGroup) })
		for after := int64(0); ; {
			entries, _, more := c.x.opts.Feed.After(after, 256)
			for _, e := range entries {
				after = e.Seq
				if e.Kind == feed.Log {
					c.logged(e)
				}
			}
			if len(entries) > 0 {
				continue
			}
			select {
			case <-more:
			case <-c.left:
				return
			case <-c.x.closing:
				return
			}
		}
	})
}
