package main

import (
	"bytes"
	"fmt"
	"testing"
)

// A parser that knows one command says of it what the parser of all commands says.
func TestParserOfOneCommand(t *testing.T) {
	said := func(args, known []string) string {
		parser, err := new(cli).parser(known)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		parser.Stdout, parser.Stderr = &out, &out
		func() {
			defer func() {
				if x := recover(); x != nil {
					fmt.Fprintf(&out, "exit %v\n", x)
				}
			}()
			_, err = parser.Parse(args)
		}()
		return fmt.Sprintf("%s%v", out.String(), err)
	}
	all, err := new(cli).parser(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range all.Model.Children {
		one, err := new(cli).parser([]string{command.Name})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(one.Model.Children); n != 1 || one.Model.Children[0].Hidden != command.Hidden {
			t.Errorf("the parser of %s has %d commands", command.Name, n)
		}
		for _, args := range [][]string{{"--help"}, {"--no-such-flag"}, {"--version"}, {"no-such-argument", "nor-this"}} {
			args = append([]string{command.Name}, args...)
			if got, want := said(args, args), said(args, nil); got != want {
				t.Errorf("minido %v\n%s\nand with all commands\n%s", args, got, want)
			}
		}
	}
}
