// Package pipeline is Cloudflare Pipelines: each record that a worker sends becomes
// a line of JSON in v3/pipelines/<name>.ndjson. wrangler dev drops them.
package pipeline

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/miniflare"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "pipeline"

//go:embed pipeline.js
var source string

var prelude = engine.NewPrelude("pipeline.js", source)

// pipelines are those of a session. Safe for concurrent use.
type pipelines struct {
	driver.Stateless
	session *driver.Session

	mu     sync.Mutex // guards queues
	queues map[string]*miniflare.Queue
}

// New makes the driver of pipelines.
func New(s *driver.Session) driver.Driver {
	return &pipelines{session: s, queues: map[string]*miniflare.Queue{}}
}

// Make implements driver.Driver.
func (d *pipelines) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	name := cmp.Or(b.Param("stream"), b.Param("pipeline"), b.Name)
	send := driver.Call(a, "pipeline", func(_ string, lines, _ []byte, done func(reply, data []byte, err error)) {
		d.queue(name).Add("pipeline send", func() { done([]byte("null"), nil, d.send(name, lines)) })
	})
	return driver.Stub(a, w, a.Engine.Call(a.Engine.Load(prelude, a.Engine.Native(send)), goja.Undefined()))
}

func (d *pipelines) queue(name string) *miniflare.Queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues[name] == nil {
		d.queues[name] = miniflare.NewQueue(d.session.Scheduler)
	}
	return d.queues[name]
}

// send appends lines to the file of a pipeline, durably.
func (d *pipelines) send(name string, lines []byte) error {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("pipeline: %q is no name of a pipeline", name)
	}
	dir, err := d.session.Dir(kind)
	if err != nil {
		return err
	}
	return d.session.Points.Effect(killpoint.Store, "PIPELINE/"+name, "send", func() error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("pipeline: %w", err)
		}
		f, err := os.OpenFile(filepath.Join(dir, name+".ndjson"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("pipeline: %w", err)
		}
		_, err = f.Write(lines)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("pipeline: %w", err)
		}
		return nil
	})
}
