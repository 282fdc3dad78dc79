package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"minido.dev/minido/internal/completion"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help implements kong's HelpProvider.
func (completionCommand) Help() string {
	return `  bash         source <(minido completion bash), in ~/.bashrc
  zsh          minido completion zsh > a file _minido in a directory of $fpath
  fish         minido completion fish > ~/.config/fish/completions/minido.fish
  PowerShell   minido completion powershell | Out-String | Invoke-Expression, in $PROFILE`
}

// Run implements kong's command interface.
func (c *completionCommand) Run(k *kong.Kong) error {
	text, err := completion.Script(k.Model, c.Shell)
	if err != nil {
		return err
	}
	_, err = fmt.Print(text)
	return err
}
