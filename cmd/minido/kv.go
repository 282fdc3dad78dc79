package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/binding/kv"
	"minido.dev/minido/runtime/binding/secretsstore"
)

// kvCommand is `minido kv`: the KV namespaces of a project's state.
type kvCommand struct {
	Key kvKey `cmd:"" help:"Get, put, list and delete keys."`
}

type kvKey struct {
	Get    kvGet    `cmd:"" help:"Write a value to standard output."`
	Put    kvPut    `cmd:"" help:"Store a value."`
	List   kvList   `cmd:"" help:"List keys, as JSON."`
	Delete kvDelete `cmd:"" help:"Delete a key."`
}

type kvFlags struct {
	Binding     string `placeholder:"NAME" help:"The binding of the namespace."`
	NamespaceID string `placeholder:"ID" help:"The id of the namespace, in place of --binding."`
	// A store of secrets is a namespace, in a folder of its own.
	SecretsStore string `placeholder:"ID" help:"The id of a Secrets Store, in place of --binding: its secrets are the keys."`
	stateFlags
}

// with opens the namespace and runs fn.
func (f *kvFlags) with(fn func(n *kv.Namespace) error) (err error) {
	given := 0
	for _, name := range []string{f.Binding, f.NamespaceID, f.SecretsStore} {
		if name != "" {
			given++
		}
	}
	if given != 1 {
		return &exitError{exitUsage, errors.New("give one of --binding, --namespace-id and --secrets-store")}
	}
	p, err := f.project()
	if err != nil {
		return err
	}
	o := kv.Options{Dir: f.dir(p, "kv_namespace"), ID: f.NamespaceID, Clock: clock.Real{}, Entropy: entropy.System{}}
	if f.SecretsStore != "" {
		o.Dir, o.Class, o.ID = f.dir(p, "secrets_store_secret"), secretsstore.Class, f.SecretsStore
	}
	if f.Binding != "" {
		b, err := find(p, "kv_namespace", f.Binding, "")
		if err != nil {
			return err
		}
		o.ID = kv.ID(b)
	}
	n, err := kv.Open(o)
	if err != nil {
		return err
	}
	defer closing(&err, n.Close)
	return fn(n)
}

type kvGet struct {
	KeyName string `arg:"" name:"key" help:"The key."`
	kvFlags
}

// Run implements kong's command interface.
func (c *kvGet) Run() error {
	return c.with(func(n *kv.Namespace) error {
		v, err := n.Get(c.KeyName)
		if err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("there is no value at %q", c.KeyName)
		}
		_, err = os.Stdout.Write(v.Data)
		return err
	})
}

type kvPut struct {
	KeyName    string `arg:"" name:"key" help:"The key."`
	Value      string `arg:"" optional:"" help:"The value; or --path."`
	Path       string `placeholder:"FILE" help:"A file with the value."`
	TTL        int32  `name:"ttl" placeholder:"SECONDS" help:"Lifetime, at least 60."`
	Expiration int32  `placeholder:"TIME" help:"Expiration time, in seconds since 1970."`
	Metadata   string `placeholder:"JSON" help:"Metadata, as JSON."`
	kvFlags
}

// Run implements kong's command interface.
func (c *kvPut) Run() error {
	data := []byte(c.Value)
	if c.Path != "" {
		if c.Value != "" {
			return &exitError{exitUsage, errors.New("give either a value or --path")}
		}
		var err error
		if data, err = os.ReadFile(c.Path); err != nil {
			return err
		}
	}
	if c.Metadata != "" && !json.Valid([]byte(c.Metadata)) {
		return &exitError{exitUsage, errors.New("--metadata is no JSON")}
	}
	if c.SecretsStore != "" && c.Metadata == "" {
		var id [16]byte
		if _, err := (entropy.System{}).Read(id[:]); err != nil {
			return err
		}
		c.Metadata = fmt.Sprintf(`{"uuid":"%x"}`, id) // by which wrangler knows a secret
	}
	e := kv.Entry{Key: c.KeyName, Metadata: c.Metadata}
	if err := e.Check(data); err != nil {
		return err
	}
	var expiration, ttl *int32
	if c.Expiration != 0 {
		expiration = &c.Expiration
	}
	if c.TTL != 0 {
		ttl = &c.TTL
	}
	var err error
	if e.Expiration, err = kv.Expires(clock.Real{}.Now().Unix(), expiration, ttl); err != nil {
		return err
	}
	return c.with(func(n *kv.Namespace) error { return n.Put(e, data) })
}

type kvList struct {
	Prefix string `placeholder:"TEXT" help:"Only keys with this prefix."`
	kvFlags
}

// Run implements kong's command interface.
func (c *kvList) Run() error {
	type key struct {
		Name       string          `json:"name"`
		Expiration int64           `json:"expiration,omitempty"`
		Metadata   json.RawMessage `json:"metadata,omitempty"`
	}
	return c.with(func(n *kv.Namespace) error {
		keys, cursor := []key{}, ""
		for {
			page, err := n.List(c.Prefix, cursor, 1000)
			if err != nil {
				return err
			}
			for _, e := range page.Entries {
				keys = append(keys, key{e.Key, e.Expiration, json.RawMessage(e.Metadata)})
			}
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(keys)
	})
}

type kvDelete struct {
	KeyName string `arg:"" name:"key" help:"The key."`
	kvFlags
}

// Run implements kong's command interface.
func (c *kvDelete) Run() error {
	return c.with(func(n *kv.Namespace) error { return n.Delete(c.KeyName) })
}
