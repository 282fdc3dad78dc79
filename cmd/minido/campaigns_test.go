package main

import (
	"strings"
	"testing"

	"minido.dev/minido/runtime/config"
)

// Campaigns are run where the server runs a project's own main.
func TestWhereCampaignsRun(t *testing.T) {
	for _, c := range []struct {
		dev  devCommand
		on   config.Project
		want string
	}{{on: config.Project{ConfigFile: "/p/wrangler.json"}}, {on: config.Project{Dir: "/p"}, want: "needs a project"},
		{dev: devCommand{Script: "a.ts"}, on: config.Project{ConfigFile: "/p/wrangler.json"}, want: "another file"}} {
		if got := c.dev.campaigns(&c.on, nil).Unavailable; !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c.on, got)
		}
	}
}
