// Package hyperdrive is Hyperdrive in development: a host name that resolves to a
// local database (workerd: api/hyperdrive.h).
package hyperdrive

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/binding/driver"
	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/engine"
)

type databases struct {
	driver.Stateless
	session *driver.Session
}

// New makes the driver of Hyperdrive.
func New(s *driver.Session) driver.Driver { return databases{session: s} }

// Offered implements driver.Driver: it is, where there is a local database.
func (d databases) Offered(_ driver.Worker, b config.Binding) bool {
	_, err := d.target(b)
	return err == nil
}

// variable is the prefix of the environment variables that name local databases.
const variable = "CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_"

// target is the local database of a binding.
func (d databases) target(b config.Binding) (*url.URL, error) {
	text := b.Param("localConnectionString")
	for _, v := range d.session.Environ {
		if value, ok := strings.CutPrefix(v, variable+b.Name+"="); ok {
			text = value
		}
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	switch {
	case u.Scheme != "postgres" && u.Scheme != "postgresql" && u.Scheme != "mysql", u.Hostname() == "":
		return nil, fmt.Errorf("%q is no connection string of Postgres or MySQL", text)
	case cmp.Or(u.Query().Get("sslmode"), "disable") != "disable" && u.Query().Get("sslmode") != "prefer":
		return nil, fmt.Errorf("sslmode=%s is not available in minido", u.Query().Get("sslmode"))
	}
	return u, nil
}

// Make implements driver.Driver. Connections to the host that it invents lead to
// the local database.
func (d databases) Make(a *cfapi.API, _ driver.Worker, b config.Binding) goja.Value {
	target, err := d.target(b)
	if err != nil {
		return driver.Absent(a, b)
	}
	var random [16]byte
	if _, err := d.session.Entropy.Fork("hyperdrive " + b.Name).Read(random[:]); err != nil {
		a.Engine.Throw("Error", "hyperdrive: %s", err)
	}
	// What the connection string says, which is wrangler's own.
	number, query := 5432, "sslmode=disable"
	if target.Scheme == "mysql" {
		number, query = 3306, "ssl-mode=disabled"
	}
	port := strconv.Itoa(number)
	host := hex.EncodeToString(random[:]) + ".hyperdrive.local"
	ip := fmt.Sprintf("240.%d.%d.%d", random[0], random[1], random[2])
	to := net.JoinHostPort(target.Hostname(), cmp.Or(target.Port(), port))
	sockets := a.Platform.TCP
	sockets.Route(host+":"+port, to)
	sockets.Route(ip+":"+port, to)
	type hyperdrive struct{}
	object := engine.DefineClass(a.Engine, engine.ClassDef[hyperdrive]{Name: "Hyperdrive", Methods: []engine.Method[hyperdrive]{
		{Name: "connect", Fn: func(hyperdrive, goja.FunctionCall) goja.Value {
			return sockets.Connect(a.Engine.String(host+":"+port), goja.Undefined())
		}},
	}}).Wrap(hyperdrive{})
	password, _ := target.User.Password()
	user, database := target.User.Username(), strings.TrimPrefix(target.Path, "/")
	text := fmt.Sprintf("%s://%s:%s@%s:%s/%s?%s", target.Scheme, user, password, host, port, database, query)
	for _, member := range []struct {
		name  string
		value any
	}{{"connectionString", text}, {"port", number}, {"ip", ip}, {"host", host}, {"password", password}, {"user", user}, {"database", database}} {
		object.DefineDataProperty(member.name, a.Engine.VM().ToValue(member.value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	return object
}
