package inspector

import (
	"encoding/json"
	"strconv"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/feed"
	"minido.dev/minido/runtime/isolate"
	"minido.dev/minido/runtime/webapi/inspect"
)

// remote is a Runtime.RemoteObject.
func remote(v isolate.Remote) object {
	out := object{"type": v.Type}
	if v.Subtype != "" {
		out["subtype"] = v.Subtype
	}
	if v.Class != "" {
		out["className"] = v.Class
	}
	if v.Type != "undefined" && v.Type != "string" && v.Type != "boolean" && v.Subtype != "null" {
		out["description"] = v.Description
	}
	switch {
	case v.Type == "bigint", v.Type == "number" && (v.JSON == nil || string(v.JSON) == "null" || v.Description == "-0"):
		out["unserializableValue"] = v.Description
	case v.JSON != nil:
		out["value"] = v.JSON
	}
	if v.ID != "" {
		out["objectId"] = v.ID
	}
	if v.Preview != nil {
		out["preview"] = preview(v.Mirror, v.Preview)
	}
	return out
}

func preview(of inspect.Mirror, p *isolate.Preview) object {
	properties := []object{}
	for _, one := range p.Properties {
		property := object{"name": one.Name, "type": one.Type, "value": one.Value}
		if one.Subtype != "" {
			property["subtype"] = one.Subtype
		}
		properties = append(properties, property)
	}
	out := object{"type": of.Type, "description": of.Description, "overflow": p.Overflow, "properties": properties}
	if of.Subtype != "" {
		out["subtype"] = of.Subtype
	}
	var entries []object
	for _, e := range p.Entries {
		entry := object{}
		for name, part := range map[string]*inspect.Mirror{"key": e.Key, "value": e.Value} { // order-independent: members of an object
			if part != nil {
				entry[name] = preview(*part, &isolate.Preview{})
			}
		}
		entries = append(entries, entry)
	}
	if entries != nil {
		out["entries"] = entries
	}
	return out
}

// worker runs fn with the isolate, if there is one.
func (x *Inspector) worker(fn func(*isolate.Isolate)) {
	x.opts.Worker(func(i *isolate.Isolate, err error) {
		if err == nil {
			fn(i)
		}
	})
}

// in runs fn with the isolate, or refuses.
func (c *client) in(ask call, fn func(*isolate.Isolate)) {
	c.x.opts.Worker(func(i *isolate.Isolate, err error) {
		if err != nil {
			c.refuse(ask, "minido: "+err.Error())
			return
		}
		fn(i)
	})
}

// parameters reads what a method was given, or refuses.
func (c *client) parameters(ask call, into any) bool {
	if len(ask.Params) == 0 {
		return true
	}
	if err := json.Unmarshal(ask.Params, into); err != nil {
		c.write(object{"id": ask.ID, "error": protocolError{-32602, "Invalid parameters: " + err.Error()}})
		return false
	}
	return true
}

// evaluation are the parameters that evaluate and callFunctionOn share.
type evaluation struct {
	ReturnByValue bool   `json:"returnByValue"`
	AwaitPromise  bool   `json:"awaitPromise"`
	Preview       bool   `json:"generatePreview"`
	Group         string `json:"objectGroup"`
	SideEffects   bool   `json:"throwOnSideEffect"`
}

func (e evaluation) options() isolate.EvaluateOptions {
	return isolate.EvaluateOptions{Await: e.AwaitPromise, ByValue: e.ReturnByValue, Preview: e.Preview, Group: e.Group}
}

// effects refuses what a person has not asked for: previews while they type.
func (c *client) effects(ask call, e evaluation) bool {
	if e.SideEffects {
		c.refuse(ask, "minido: expressions cannot be kept from having effects")
	}
	return e.SideEffects
}

func (c *client) evaluated(ask call) func(v isolate.Remote, thrown bool, err error) {
	return func(v isolate.Remote, thrown bool, err error) {
		switch {
		case err != nil:
			c.refuse(ask, err.Error())
		case thrown:
			c.reply(ask, object{"result": remote(v), "exceptionDetails": object{"exceptionId": ask.ID, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": remote(v)}})
		default:
			c.reply(ask, object{"result": remote(v)})
		}
	}
}

func (c *client) evaluate(ask call) {
	var p struct {
		evaluation
		Expression string `json:"expression"`
	}
	if !c.parameters(ask, &p) || c.effects(ask, p.evaluation) {
		return
	}
	c.in(ask, func(i *isolate.Isolate) { i.Evaluate(p.Expression, p.options(), c.evaluated(ask)) })
}

func (c *client) callFunctionOn(ask call) {
	var p struct {
		evaluation
		Function string                 `json:"functionDeclaration"`
		This     string                 `json:"objectId"`
		Args     []isolate.CallArgument `json:"arguments"`
	}
	if !c.parameters(ask, &p) || c.effects(ask, p.evaluation) {
		return
	}
	c.in(ask, func(i *isolate.Isolate) {
		i.CallFunction(isolate.Call{Function: p.Function, This: p.This, Args: p.Args}, p.options(), c.evaluated(ask))
	})
}

func (c *client) getProperties(ask call) {
	var p struct {
		ID        string `json:"objectId"`
		Own       bool   `json:"ownProperties"`
		Accessors bool   `json:"accessorPropertiesOnly"`
		Preview   bool   `json:"generatePreview"`
	}
	if !c.parameters(ask, &p) {
		return
	}
	c.in(ask, func(i *isolate.Isolate) {
		i.Properties(p.ID, isolate.PropertiesOptions{Own: p.Own, Accessors: p.Accessors, Preview: p.Preview}, func(list, internal []isolate.Property, err error) {
			if err != nil {
				c.refuse(ask, err.Error())
				return
			}
			answer := object{"result": properties(list)}
			if len(internal) > 0 {
				answer["internalProperties"] = properties(internal)
			}
			c.reply(ask, answer)
		})
	})
}

func properties(list []isolate.Property) []object {
	out := []object{}
	for _, p := range list {
		property := object{"name": p.Name, "configurable": p.Configurable, "enumerable": p.Enumerable, "isOwn": p.Own}
		for name, part := range map[string]*isolate.Remote{"value": p.Value, "get": p.Get, "set": p.Set, "symbol": p.Symbol} { // order-independent: members of an object
			if part != nil {
				property[name] = remote(*part)
			}
		}
		if p.Value != nil {
			property["writable"] = p.Writable
		}
		out = append(out, property)
	}
	return out
}

func (c *client) release(ask call) {
	var p struct {
		ID    string `json:"objectId"`
		Group string `json:"objectGroup"`
	}
	if !c.parameters(ask, &p) {
		return
	}
	c.in(ask, func(i *isolate.Isolate) {
		if p.ID != "" {
			i.Release(p.ID)
		} else {
			i.ReleaseGroup(p.Group)
		}
		c.reply(ask, object{})
	})
}

// logged tells of a message of the worker: with the values, if they are there, else
// with its text.
func (c *client) logged(e feed.Entry) {
	args := []object{}
	for _, v := range e.Values {
		args = append(args, remote(v))
	}
	if e.Values == nil {
		args = append(args, object{"type": "string", "value": e.Text})
	}
	if e.Object != "" {
		args = append([]object{{"type": "string", "value": "[" + e.Object + "]"}}, args...)
	}
	kind := e.Level
	if kind == "warn" {
		kind = "warning"
	}
	event := object{"type": kind, "args": args, "executionContextId": contextID, "timestamp": e.AtMs}
	if frames := callFrames(e.Stack); len(frames) > 0 {
		event["stackTrace"] = object{"callFrames": frames}
	}
	c.event("Runtime.consoleAPICalled", event)
}

// stackLine is a line of a stack in V8's form: "    at f (src/worker.ts:12:5)".
var stackLine = lazyregexp.New(`^\s*at (?:(.*) \()?([^()\s]+):(\d+):(\d+)\)?$`)

func callFrames(stack string) (frames []object) {
	for line := range strings.SplitSeq(stack, "\n") {
		if m := stackLine.FindStringSubmatch(line); m != nil {
			row, _ := strconv.Atoi(m[3])
			column, _ := strconv.Atoi(m[4])
			name, _, _ := strings.Cut(m[1], " [as ") // "async Room.add": V8's protocol has the function's name alone
			frames = append(frames, callFrame(name[strings.LastIndexAny(name, ". ")+1:], m[2], row, column))
		}
	}
	return frames
}

// callFrame is a Runtime.CallFrame; line and column count from 1, as in stacks.
func callFrame(function, file string, line, column int) object {
	return object{"functionName": function, "scriptId": file, "url": fileURL(file), "lineNumber": max(0, line-1), "columnNumber": max(0, column-1)}
}

// fileURL is where DevTools shows a module of the worker.
func fileURL(name string) string { return "file:///" + strings.TrimPrefix(name, "/") }
