// Package inspect is console, and the formatting of values by it and util.inspect:
// like Node's util.inspect, with platform objects as in workerd.
package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/regexp"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
)

// Console is console, and what shows values as it does, in one isolate.
// Loop-confined.
type Console struct {
	*webidl.Realm

	// Saying, if it is set, is given the arguments of each call that logs them, right
	// before their text is logged.
	Saying func(args []goja.Value)

	// StandIn, if it is set, is the name of what a proxy stands for that the platform made,
	// "" for any other object.
	StandIn func(v *goja.Object) string

	regexps *regexp.Class
}

// New makes the console; Install defines it. regexps tells what expressions
// their users wrote.
func New(r *webidl.Realm, regexps *regexp.Class) *Console {
	return &Console{Realm: r, regexps: regexps}
}

// Install defines console (WHATWG Console), written through the engine's logger.
func (p *Console) Install() { p.Engine.Lazies.Global("console", p.makeConsole) }

// console is the state of one isolate's console. Loop-confined.
type console struct {
	p      *Console
	indent int // groups that are open
	counts map[string]int
	timers map[string]time.Time
}

// makeConsole is the console object.
func (p *Console) makeConsole() goja.Value {
	obj := p.consoleMethods(p.VM.CreateObject(p.VM.NewObject())) // Console, section 1: an empty object is in between
	p.Engine.DefineFunc(obj, engine.Func{Name: "context", Fn: func(goja.FunctionCall) goja.Value {
		return p.consoleMethods(p.VM.NewObject()) // V8's: a console with groups, counts and times of its own
	}})
	obj.DefineDataPropertySymbol(goja.SymToStringTag, p.VM.ToValue("console"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return obj
}

// consoleMethods puts the methods of a console on obj, in V8's order. They never
// throw, whatever they are given, and need no receiver.
func (p *Console) consoleMethods(obj *goja.Object) *goja.Object {
	c := &console{p: p, counts: map[string]int{}, timers: map[string]time.Time{}}
	put := func(property, name string, fn func(args []goja.Value)) {
		method := p.Engine.Func(name, 0, func(call goja.FunctionCall) goja.Value {
			args := slices.Clone(call.Arguments) // formatting may call the user's code
			if thrown := p.Engine.Try(func() { fn(args) }); thrown != nil {
				p.Engine.Try(func() { c.write(engine.Error, "console."+property+": "+p.Engine.Text(thrown)) })
			}
			return goja.Undefined()
		})
		obj.DefineDataProperty(property, method, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	define := func(name string, fn func(args []goja.Value)) { put(name, name, fn) }
	// Those that workerd puts its own functions around have no name (workerd: io/worker.c++,
	// setupConsole).
	logger := func(name string, level engine.Level) {
		put(name, "", func(args []goja.Value) {
			if inv := p.Engine.Frame().Invocation; inv != nil {
				inv.Logged(level, args)
			}
			text := c.said(args)
			if p.Saying != nil {
				p.Saying(args)
			}
			c.write(level, text)
		})
	}
	logger("debug", engine.Debug)
	logger("error", engine.Error)
	logger("info", engine.Info)
	logger("log", engine.Log)
	logger("warn", engine.Warn)
	define("dir", func(args []goja.Value) {
		o := defaultInspect()
		o.custom = false
		o.read(argument(args, 1))
		c.write(engine.Log, p.inspectQuietly(argument(args, 0), o))
	})
	define("dirxml", func(args []goja.Value) { c.write(engine.Log, c.format(args)) })
	define("table", c.table)
	define("trace", func(args []goja.Value) {
		c.write(engine.Log, strings.TrimRight(p.Engine.Errors.MapStack(webidl.StackHeader("Trace", c.format(args))+p.CallStack()), "\n"))
	})
	group := func(args []goja.Value) {
		if len(args) > 0 {
			c.write(engine.Log, c.format(args))
		}
		c.indent++
	}
	define("group", group)
	define("groupCollapsed", group)
	define("groupEnd", func([]goja.Value) { c.indent = max(0, c.indent-1) })
	inspectorOnly := func([]goja.Value) {} // it steers an attached inspector, which is never there
	define("clear", inspectorOnly)
	c.defineCounts(define)
	define("assert", func(args []goja.Value) {
		if !argument(args, 0).ToBoolean() {
			c.assertion(args)
		}
	})
	define("profile", inspectorOnly)
	define("profileEnd", inspectorOnly)
	c.defineTimes(define)
	define("timeStamp", inspectorOnly)
	return obj
}

// labelled defines methods that take a label.
func labelled(define func(name string, fn func(args []goja.Value))) func(name string, fn func(label string, args []goja.Value)) {
	return func(name string, fn func(label string, args []goja.Value)) {
		define(name, func(args []goja.Value) {
			label := "default"
			if v := argument(args, 0); !webidl.IsUndefined(v) {
				label = v.String()
			}
			fn(label, args)
		})
	}
}

// defineCounts defines the methods that count (Console, section 1.2).
func (c *console) defineCounts(define func(name string, fn func(args []goja.Value))) {
	labelled := labelled(define)
	labelled("count", func(label string, _ []goja.Value) {
		c.counts[label]++
		c.write(engine.Log, fmt.Sprintf("%s: %d", label, c.counts[label]))
	})
	labelled("countReset", func(label string, _ []goja.Value) {
		if _, ok := c.counts[label]; !ok {
			c.write(engine.Warn, fmt.Sprintf("Count for '%s' does not exist", label))
		}
		delete(c.counts, label)
	})
}

// defineTimes defines the methods that take the time (Console, section 1.4).
func (c *console) defineTimes(define func(name string, fn func(args []goja.Value))) {
	labelled := labelled(define)
	labelled("time", func(label string, _ []goja.Value) {
		if _, ok := c.timers[label]; ok {
			c.write(engine.Warn, fmt.Sprintf("Label '%s' already exists for console.time()", label))
			return
		}
		c.timers[label] = c.p.Engine.Now()
	})
	show := func(method, label string, rest []goja.Value) {
		began, ok := c.timers[label]
		if !ok {
			c.write(engine.Warn, fmt.Sprintf("No such label '%s' for console.%s()", label, method))
			return
		}
		text := label + ": " + showDuration(c.p.Engine.Now().Sub(began))
		if len(rest) > 0 {
			text += " " + c.format(rest)
		}
		c.write(engine.Log, text)
	}
	labelled("timeLog", func(label string, args []goja.Value) { show("timeLog", label, args[min(len(args), 1):]) })
	labelled("timeEnd", func(label string, _ []goja.Value) {
		show("timeEnd", label, nil)
		delete(c.timers, label)
	})
}

// argument is the nth argument, undefined if there is none.
func argument(args []goja.Value, n int) goja.Value {
	if n < len(args) {
		return args[n]
	}
	return goja.Undefined()
}

// showDuration is how console.timeEnd shows a time.
func showDuration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d:%02d:%02d (h:mm:ss)", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
	case d >= time.Minute:
		return fmt.Sprintf("%d:%06.3f (m:ss.mmm)", d/time.Minute, (d % time.Minute).Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64) + "ms"
}

// write logs text, indented by the groups that are open.
func (c *console) write(level engine.Level, text string) {
	if c.indent > 0 {
		pad := strings.Repeat("  ", c.indent)
		text = pad + strings.ReplaceAll(text, "\n", "\n"+pad)
	}
	c.p.Engine.Log(level, text)
}

func (c *console) assertion(args []goja.Value) {
	rest := args[min(len(args), 1):]
	if len(rest) > 0 && isText(rest[0]) {
		rest[0] = c.p.VM.ToValue("Assertion failed: " + rest[0].String())
	} else {
		rest = append([]goja.Value{c.p.VM.ToValue("Assertion failed")}, rest...)
	}
	c.write(engine.Error, c.format(rest))
}

// format is the Console specification's Formatter.
func (c *console) format(args []goja.Value) string {
	return formatter{p: c.p, lenient: true}.format(defaultInspect(), args)
}

// said is what the methods log that workerd formats itself: where the user's code throws
// as it is asked, that.
func (c *console) said(args []goja.Value) (text string) {
	thrown := c.p.Engine.Try(func() { text = formatter{p: c.p}.format(defaultInspect(), args) })
	if thrown == nil {
		return text
	}
	if obj, ok := thrown.(*goja.Object); ok && c.p.Engine.Errors.Is(thrown) {
		return "<Formatting threw (" + c.p.Engine.Errors.MapStack(c.p.Engine.Errors.Stack(obj)) + ")>"
	}
	return "<Formatting threw (" + c.p.Engine.Text(thrown) + ")>"
}

// isText reports whether v is a primitive string.
func isText(v goja.Value) bool {
	_, isSymbol := v.(*goja.Symbol) // which goja exports as a string too
	return v != nil && !isSymbol && v.ExportType() == stringType
}

// table shows rows and columns: (data, columns).
func (c *console) table(args []goja.Value) { c.write(engine.Log, c.tableText(args)) }

// ConsoleTable is what console.table(data, columns) shows. Loop-confined.
func (p *Console) Table(data, columns goja.Value) string {
	return (&console{p: p}).tableText([]goja.Value{data, columns})
}

func (c *console) tableText(args []goja.Value) string {
	obj, ok := argument(args, 0).(*goja.Object)
	if !ok {
		return c.format(args)
	}
	t := &table{}
	var only []string
	if list, ok := argument(args, 1).(*goja.Object); ok {
		c.p.ForOf(list, func(v goja.Value) { only = append(only, v.String()) })
		for _, name := range only {
			t.column(name)
		}
	}
	index := "(index)"
	switch in := (&inspector{p: c.p}); {
	case in.has("MapPrototypeGetSize", obj):
		index = "(iteration index)"
		c.p.ForOf(in.ask("MapPrototypeEntries", obj), func(v goja.Value) {
			pair := v.(*goja.Object)
			row := t.row(strconv.Itoa(len(t.index)))
			row["Key"], row["Values"] = c.cell(pair.Get("0")), c.cell(pair.Get("1"))
			t.column("Key")
		})
		t.values = t.values || len(t.index) > 0
	case in.has("SetPrototypeGetSize", obj):
		index = "(iteration index)"
		c.p.ForOf(in.ask("SetPrototypeValues", obj), func(v goja.Value) { c.row(t, strconv.Itoa(len(t.index)), v, only) })
	default:
		for _, key := range obj.Keys() {
			c.row(t, key, obj.Get(key), only)
		}
	}
	return t.render(index)
}

// row adds a row: the properties of an object, or a value on its own.
func (c *console) row(t *table, index string, v goja.Value, only []string) {
	row := t.row(index)
	obj, ok := v.(*goja.Object)
	if !ok || engine.IsCallable(v) {
		t.values = true
		row["Values"] = c.cell(v)
		return
	}
	for _, key := range obj.Keys() {
		if only == nil || slices.Contains(only, key) {
			t.column(key)
			row["."+key] = c.cell(obj.Get(key))
		}
	}
}

// cell shows a value on one line, without what it holds.
func (c *console) cell(v goja.Value) string {
	return strings.Join(strings.Fields(c.p.inspectDeep(v, 0)), " ")
}

// table is what console.table shows. A row is keyed by "." and the column, or
// by the special columns Key and Values.
type table struct {
	index   []string
	columns []string
	rows    []map[string]string
	values  bool
}

func (t *table) row(index string) map[string]string {
	row := map[string]string{}
	t.index, t.rows = append(t.index, index), append(t.rows, row)
	return row
}

func (t *table) column(name string) {
	if !slices.Contains(t.columns, name) {
		t.columns = append(t.columns, name)
	}
}

func (t *table) render(index string) string {
	lines := [][]string{append([]string{index}, t.columns...)}
	if t.values {
		lines[0] = append(lines[0], "Values")
	}
	for i, row := range t.rows {
		line := []string{t.index[i]}
		for _, name := range t.columns {
			text, ok := row["."+name]
			if !ok && name == "Key" {
				text = row["Key"]
			}
			line = append(line, text)
		}
		if t.values {
			line = append(line, row["Values"])
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell)+2)
		}
	}
	rule := func(left, middle, right string) string {
		var parts []string
		for _, w := range widths {
			parts = append(parts, strings.Repeat("─", w))
		}
		return left + strings.Join(parts, middle) + right
	}
	out := []string{rule("┌", "┬", "┐")}
	for i, line := range lines {
		for j, cell := range line {
			line[j] = " " + cell + strings.Repeat(" ", widths[j]-1-utf8.RuneCountInString(cell))
		}
		out = append(out, "│"+strings.Join(line, "│")+"│")
		if i == 0 {
			out = append(out, rule("├", "┼", "┤"))
		}
	}
	return strings.Join(append(out, rule("└", "┴", "┘")), "\n")
}
