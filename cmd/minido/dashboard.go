package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"minido.dev/minido/runtime/control"
)

// dashboardCommand is `minido dashboard`.
type dashboardCommand struct {
	Server string `placeholder:"URL" help:"Control address of the server, if several run. Default: the one whose project contains this directory."`
	Open   bool   `help:"Open the address in the browser."`
}

// Help implements kong's HelpProvider.
func (dashboardCommand) Help() string {
	return `Prints an address that opens the dashboard of the server that "minido dev" runs for this project. The address works once,
within two minutes; the page that it opens has access until the server stops. Everything stays on this machine.`
}

// Run implements kong's command interface.
func (d *dashboardCommand) Run() error {
	ctl := &ctlCommand{Server: d.Server}
	return ctl.with(func(ctx context.Context, client *control.Client) error {
		var to control.DashboardURL
		if err := client.Post(ctx, "/v1/dashboard", struct{}{}, &to); err != nil {
			return err
		}
		fmt.Println(to.URL)
		if d.Open {
			return browse(ctx, to.URL)
		}
		return nil
	})
}

// browse opens a URL in the user's browser. Some openers end with the browser only;
// they are stopped when ctx ends.
func browse(ctx context.Context, url string) error {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", url}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	if err := exec.CommandContext(ctx, command[0], command[1:]...).Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s cannot open a browser: %w; open %s by hand", command[0], err, url)
	}
	return nil
}
