// Package sendemail is the send_email binding: messages are validated as by miniflare
// and written to v3/email, for the developer to read. Nothing is sent.
package sendemail

import (
	_ "embed"
	"encoding/json"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/binding/sendemail/mail"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

const kind = "send_email"

//go:embed sendemail.js
var source string

var prelude = engine.NewPrelude("send-email.js", source)

type bindings struct {
	driver.Stateless
	session *driver.Session
}

// New makes the driver of send_email bindings.
func New(s *driver.Session) driver.Driver { return &bindings{session: s} }

// Make implements driver.Driver.
func (d *bindings) Make(a *cfapi.API, w driver.Worker, b config.Binding) goja.Value {
	vm := a.Engine.VM()
	native := a.Engine.Native(
		driver.Call(a, "send_email", d.send),
		engine.Func{Name: "log", Length: 1, Fn: func(call goja.FunctionCall) goja.Value {
			a.Engine.Log(engine.Info, call.Argument(0).String())
			return goja.Undefined()
		}},
	)
	settings := vm.NewObject()
	for name, key := range map[string]string{"destination": "destination_address", "destinations": "allowed_destination_addresses", "senders": "allowed_sender_addresses"} { // order-independent: members of one object
		if v := b.Params[key]; v != nil {
			settings.Set(name, vm.ToValue(v))
		}
	}
	create := a.Engine.Load(prelude, native)
	return driver.Stub(a, w, a.Engine.Call(create, goja.Undefined(), vm.GlobalObject().Get("Response"), settings))
}

// send checks a message and writes it.
func (d *bindings) send(_ string, args, body []byte, done func(reply, data []byte, err error)) {
	d.session.Scheduler.Go("send_email", func() {
		var m struct {
			From  string `json:"from"`
			Built bool   `json:"built"`
			Files []struct {
				Suffix string `json:"suffix"`
				Size   int    `json:"size"`
			} `json:"files"`
		}
		if err := json.Unmarshal(args, &m); err != nil {
			done(nil, nil, err)
			return
		}
		if !m.Built {
			if bad := mail.Check(body, m.From); bad != nil {
				text, err := json.Marshal(map[string]string{"refused": bad.Error()})
				done(text, nil, err)
				return
			}
		}
		dir, err := d.session.Dir(kind)
		if err != nil {
			done(nil, nil, err)
			return
		}
		id, err := mail.MessageID(m.From, d.session.Entropy)
		if err != nil {
			done(nil, nil, err)
			return
		}
		var parts []mail.Part
		for _, f := range m.Files {
			parts = append(parts, mail.Part{Suffix: f.Suffix, Data: body[:f.Size]})
			body = body[f.Size:]
		}
		if !m.Built {
			parts[0].Data = mail.WithMessageID(parts[0].Data, id)
		}
		stored, err := mail.Store(mail.Options{Dir: dir, Points: d.session.Points}, "sent", id, parts)
		if err != nil {
			done(nil, nil, err)
			return
		}
		text, err := json.Marshal(stored)
		done(text, nil, err)
	})
}
