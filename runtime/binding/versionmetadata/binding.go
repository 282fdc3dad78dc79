// Package versionmetadata is the version_metadata binding: the identity of a
// deployment.
package versionmetadata

import (
	"fmt"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
)

// versions are those of the workers that run, by script. Safe for concurrent use.
type versions struct {
	driver.Stateless
	session *driver.Session
	chance  entropy.Source

	mu    sync.Mutex // guards known
	known map[string]version
}

// version is what a project was given when it was loaded.
type version struct {
	of   *config.Project
	json string
}

// New makes the driver of version metadata.
func New(s *driver.Session) driver.Driver {
	return &versions{session: s, chance: s.Entropy.Fork("version metadata"), known: map[string]version{}}
}

// Make implements driver.Driver. As in miniflare the id is a random UUID, and the
// time that of the load; an isolate that is replaced keeps both.
func (d *versions) Make(a *cfapi.API, w driver.Worker, _ config.Binding) goja.Value {
	p := w.Project()
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.known[p.Name]
	if v.of != p {
		var id [16]byte
		if _, err := d.chance.Read(id[:]); err != nil {
			a.Engine.Throw("Error", "version metadata: %s", err)
		}
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // RFC 9562, version 4
		at := d.session.Scheduler.Clock().Now().UTC().Format("2006-01-02T15:04:05.000Z")
		v = version{p, fmt.Sprintf(`{"id":"%x-%x-%x-%x-%x","tag":"","timestamp":%q}`, id[:4], id[4:6], id[6:8], id[8:10], id[10:], at)}
		d.known[p.Name] = v
	}
	return a.ParseJSON(v.json)
}
