// Package workflow is Workflows: the binding on env, and the engine of each
// instance, a Durable Object of the platform's own in v3/workflows/<workflow>.
// Steps, sleeps and events are rows of it; recovery is that of Durable Objects.
// The answers follow miniflare (@cloudflare/workflows-shared); the tables are
// minido's own.
package workflow

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/event"
)

//go:embed binding.js
var bindingSource string

//go:embed engine.js
var engineSource string

var (
	bindingPrelude = engine.NewPrelude("workflow-binding.js", bindingSource)
	enginePrelude  = engine.NewPrelude("workflow-engine.js", engineSource)
)

const (
	kind   = "workflow"
	folder = "workflows"
	// defaultSteps is how many steps an instance may have (limits.steps).
	defaultSteps = 10_000
)

type workflows struct{ driver.Stateless }

var _ driver.Hosting = workflows{}

// New makes the driver of Workflows.
func New(*driver.Session) driver.Driver { return workflows{} }

// Offered implements driver.Driver.
func (workflows) Offered(w driver.Worker, b config.Binding) bool {
	return b.Param("script_name") == "" || w.Running(b.Param("script_name"))
}

// safeName are the names that can be a folder's.
var safeName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

// uniqueKey is the folder of a Workflow's instances.
func uniqueKey(name string) string { return "minido-workflow-" + name }

// Classes implements driver.Hosting: instances live with the worker that exports
// the class.
func (workflows) Classes(projects []*config.Project) (all []driver.Class) {
	hosted := map[string]bool{}
	for _, p := range projects {
		for _, b := range p.Bindings {
			name := b.Param("name")
			if b.Kind != kind || hosted[name] || !safeName.MatchString(name) {
				continue
			}
			hosted[name] = true
			script := b.Param("script_name")
			if script == "" {
				script = p.Name
			}
			all = append(all, driver.Class{
				Name: "workflow-" + name, UniqueKey: uniqueKey(name), Folder: folder, Script: script,
				Make: func(a *cfapi.API, h driver.Handlers) *goja.Object {
					return newEngine(a, h, b, slices.Contains(p.CompatibilityFlags, keepsMessage))
				},
			})
		}
	}
	return all
}

// Make implements driver.Driver.
func (workflows) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	vm := a.Engine.VM()
	instances := w.Objects(uniqueKey(b.Param("name")))
	native := a.Engine.Native(
		engine.Func{Name: "stub", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return a.Service(instances.Stub(instances.IDs().FromName(call.Argument(0).String())))
		}},
		engine.Func{Name: "id", Fn: func(goja.FunctionCall) goja.Value {
			return vm.ToValue(driver.UUID(a))
		}},
	)
	native.Set("name", b.Name)
	native.Set("workflow", b.Param("name"))
	js := a.Engine.Load(bindingPrelude, native).(*goja.Object)
	return a.Engine.Call(js.Get("made"), goja.Undefined(), driver.Stub(a, w, js.Get("served")))
}

// keepsMessage is the flag by which an instance fails with the message of a
// NonRetryableError. As in wrangler dev, whose engine has a date of its own, it counts where
// the configuration names it, whatever the date says.
const keepsMessage = "workflows_preserve_non_retryable_error_message"

// newEngine makes the class of a Workflow's instances.
func newEngine(a *cfapi.API, h driver.Handlers, b config.Binding, keeps bool) *goja.Object {
	vm := a.Engine.VM()
	global := vm.GlobalObject()
	native := a.Engine.Native(
		engine.Func{Name: "serialize", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(vm.NewArrayBuffer(a.Serialize(call.Argument(0))))
		}},
		engine.Func{Name: "deserialize", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			data, _ := call.Argument(0).Export().(goja.ArrayBuffer)
			v, err := a.Platform.Clone.Deserialize(data.Bytes(), clone.Options{Mode: clone.Storage})
			if err != nil {
				a.Engine.Rethrow(err)
			}
			return v
		}},
		engine.Func{Name: "warn", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			a.Engine.Log(engine.Warn, call.Argument(0).String())
			return goja.Undefined()
		}},
		engine.Func{Name: "text", Length: 2, Fn: func(call goja.FunctionCall) goja.Value {
			data, _ := call.Argument(0).Export().(goja.ArrayBuffer)
			text, ok := preview(data.Bytes(), call.Argument(1).ToBoolean())
			if !ok {
				return goja.Undefined()
			}
			return vm.ToValue(text)
		}},
	)
	native.Set("keepsMessage", keeps && a.Platform.Enabled(compat.WorkflowsPreserveNonRetryableErrorMessage))
	native.Set("setTimeout", global.Get("setTimeout"))
	native.Set("clearTimeout", global.Get("clearTimeout"))
	steps := float64(defaultSteps)
	if limits, ok := b.Params["limits"].(map[string]any); ok {
		if n, ok := limits["steps"].(float64); ok {
			steps = n
		}
	}
	made := a.Engine.Load(enginePrelude, native)
	entrypoint := a.Service(h.Entrypoint(b.Param("class_name"), nil))
	return a.Engine.Call(made, goja.Undefined(), a.DurableObjectClass(), a.RPCTargetClass(), global.Get("Response"), global.Get("ReadableStream"), entrypoint, vm.ToValue(b.Param("name")), vm.ToValue(steps)).(*goja.Object)
}

// previewBytes is how much of a stream is looked at to show its beginning.
const previewBytes = 4096

// preview is the beginning of bytes as text; ok is false if they are not UTF-8. With more
// the bytes are only the first ones, so that the last character may be cut.
func preview(b []byte, more bool) (text string, ok bool) {
	if len(b) > previewBytes {
		b, more = b[:previewBytes], true
	}
	for cut := 0; more && cut < utf8.UTFMax && !utf8.Valid(b) && len(b) > 0; cut++ {
		b = b[:len(b)-1]
	}
	return strings.TrimPrefix(string(b), "\ufeff"), utf8.Valid(b)
}

// Ask is what a person asks of an instance. Op is "create", "details", "pause",
// "resume", "terminate", "restart", "event" or "delete".
type Ask struct {
	Op     string          `json:"op"`
	ID     string          `json:"id,omitempty"`     // create
	Params json.RawMessage `json:"params,omitempty"` // create
	From   json.RawMessage `json:"from,omitempty"`   // restart: the step to begin at
	Type   string          `json:"type,omitempty"`   // event
	// Rollback has terminate take back what has begun.
	Rollback bool `json:"rollback,omitempty"`
	// Payload is the event's.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// AskError is what an instance answered that is no success: a text for people, and a
// status of HTTP, 404 where there is no such instance.
type AskError struct {
	Status int
	Text   string
}

// Error implements error.
func (e *AskError) Error() string { return e.Text }

// ErrNoWorkflow is for a Workflow that no worker of the session names.
var ErrNoWorkflow = errors.New("no worker of this session has a Workflow of that name")

// ValidID reports whether an instance may have an id.
func ValidID(id string) bool { return len(id) <= 100 && validID.MatchString(id) }

var validID = lazyregexp.New(`^[a-zA-Z0-9_][a-zA-Z0-9-_]*$`)

// maxControlBytes bounds an answer: the outputs of many steps.
const maxControlBytes = 64 << 20

// Control asks an instance of a Workflow, which objects finds by its unique key: nil if
// there is none. done gets its JSON.
func Control(objects func(uniqueKey string) cfapi.Namespace, name, instance string, ask Ask, done func([]byte, error)) {
	ns := objects(uniqueKey(name))
	if ns == nil {
		done(nil, ErrNoWorkflow)
		return
	}
	body, err := json.Marshal(ask)
	if err != nil {
		done(nil, fmt.Errorf("workflow: %w", err))
		return
	}
	request := &event.Request{Method: "POST", URL: "http://workflow/", Body: event.Bytes(body)}
	ns.Stub(ns.IDs().FromName(instance)).Fetch(request, func(r *event.Response, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		event.ReadAll(r.Body, maxControlBytes, func(data []byte, err error) {
			if err == nil && r.Status != 200 {
				err = &AskError{r.Status, string(data)}
			}
			done(data, err)
		})
	})
}
