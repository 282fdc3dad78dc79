// Package completion generates shell completions from a kong command line:
// subcommands, flags, and the values of flags with a fixed set.
package completion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are those that Script knows.
var shells = map[string]func(commands []command) string{"bash": bash, "zsh": zsh, "fish": fish, "powershell": powershell}

// Shells are the names that Script takes, sorted.
func Shells() []string {
	var names []string
	for name := range shells { // order-independent: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Script is what completes the command line of app in a shell. An unknown shell is
// an error that names those that are known.
func Script(app *kong.Application, shell string) (string, error) {
	generate, ok := shells[shell]
	if !ok {
		return "", fmt.Errorf("no completions for the shell %q; there are %s", shell, strings.Join(Shells(), ", "))
	}
	return generate(commands(app.Node, nil)), nil
}

// command is the program or one of its subcommands.
type command struct {
	path  string // "chaos enumerate"; "" is the program
	words []word // what can stand after it
	enums []word // flags and their values: text is the flag, help the values
}

type word struct{ text, help string }

// commands are the node and what is below it, with the flags of all above.
func commands(n *kong.Node, path []string) []command {
	c := command{path: strings.Join(path, " ")}
	var below []command
	for _, child := range n.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		c.words = append(c.words, word{child.Name, sentence(child.Help)})
		below = append(below, commands(child, append(slices.Clip(path), child.Name))...)
	}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			c.words = append(c.words, word{"--" + f.Name, sentence(f.Help)})
			if f.Enum != "" {
				c.enums = append(c.enums, word{"--" + f.Name, strings.Join(f.EnumSlice(), " ")})
			}
		}
	}
	for _, p := range n.Positional {
		for _, value := range p.EnumSlice() {
			if value != "" {
				c.words = append(c.words, word{value, sentence(p.Help)})
			}
		}
	}
	return append([]command{c}, below...)
}

// sentence is the first sentence of a help text, without what shells would interpret.
func sentence(help string) string {
	head, _, _ := strings.Cut(help, ". ")
	return strings.NewReplacer("'", "", "\"", "", "`", "", "$", "", "\\", "", "[", "(", "]", ")", ":", " -").Replace(strings.TrimSuffix(head, "."))
}

func texts(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

// patterns are the paths that a word extends, as the pattern of a case of sh.
func patterns(all []command) string {
	var list []string
	for _, c := range all[1:] {
		list = append(list, `" `+c.path+`"`)
	}
	return strings.Join(list, "|")
}

// walk is how bash and zsh find the command of the words before the cursor.
const walk = `  for w in "${before[@]}"; do
    case "$at $w" in
      %s) at="$at $w" ;;
    esac
  done
`

func bash(all []command) string {
	var b strings.Builder
	b.WriteString("# bash completion of minido: source <(minido completion bash)\n_minido() {\n")
	b.WriteString("  local at=\"\" w words=\"\" cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n")
	b.WriteString("  local before=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n")
	fmt.Fprintf(&b, walk, patterns(all))
	b.WriteString("  case \"$at $prev\" in\n")
	for _, c := range all {
		for _, e := range c.enums {
			fmt.Fprintf(&b, "    \"%s %s\") words=%q ;;\n", lead(c.path), e.text, e.help)
		}
	}
	b.WriteString("    *) case \"$at\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "      %q) words=%q ;;\n", lead(c.path), texts(c.words))
	}
	b.WriteString("    esac ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _minido minido\n")
	return b.String()
}

// lead is a path as walk makes it.
func lead(path string) string {
	if path == "" {
		return ""
	}
	return " " + path
}

func zsh(all []command) string {
	var b strings.Builder
	b.WriteString("#compdef minido\n# zsh completion of minido: minido completion zsh > a file _minido in a directory of $fpath\n_minido() {\n")
	b.WriteString("  local at=\"\" w prev=\"${words[CURRENT-1]}\"\n  local -a before list\n  before=(\"${words[@]:1:$((CURRENT-2))}\")\n")
	fmt.Fprintf(&b, walk, patterns(all))
	b.WriteString("  case \"$at $prev\" in\n")
	for _, c := range all {
		for _, e := range c.enums {
			fmt.Fprintf(&b, "    \"%s %s\") compadd -- %s; return ;;\n", lead(c.path), e.text, e.help)
		}
	}
	b.WriteString("  esac\n  case \"$at\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    %q) list=(", lead(c.path))
		for _, w := range c.words {
			fmt.Fprintf(&b, "'%s:%s' ", w.text, w.help)
		}
		b.WriteString(") ;;\n")
	}
	b.WriteString("  esac\n  _describe 'minido' list\n  [[ \"${words[CURRENT]}\" == -* ]] || _files\n}\n")
	b.WriteString("if [[ \"${funcstack[1]}\" == _minido ]]; then _minido \"$@\"; else compdef _minido minido; fi\n")
	return b.String()
}

func fish(all []command) string {
	var b strings.Builder
	b.WriteString("# fish completion of minido: minido completion fish > ~/.config/fish/completions/minido.fish\nfunction __minido_at\n")
	b.WriteString("  set -l at ''\n  for w in (commandline -opc)[2..-1]\n    switch \"$at $w\"\n      case")
	for _, c := range all[1:] {
		fmt.Fprintf(&b, " ' %s'", c.path)
	}
	b.WriteString("\n        set at \"$at $w\"\n    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n")
	for _, c := range all {
		values := map[string]string{}
		for _, e := range c.enums {
			values[e.text] = e.help
		}
		for _, w := range c.words {
			fmt.Fprintf(&b, "complete -c minido -n \"__minido_at '%s'\" -d '%s' ", lead(c.path), w.help)
			name, isFlag := strings.CutPrefix(w.text, "--")
			switch {
			case !isFlag:
				fmt.Fprintf(&b, "-a '%s'\n", w.text)
			case values[w.text] != "":
				fmt.Fprintf(&b, "-l '%s' -x -a '%s'\n", name, values[w.text])
			default:
				fmt.Fprintf(&b, "-l '%s'\n", name)
			}
		}
	}
	return b.String()
}

func powershell(all []command) string {
	var b strings.Builder
	b.WriteString("# PowerShell completion of minido: minido completion powershell | Out-String | Invoke-Expression\n$minidoWords = @{\n")
	for _, c := range all {
		fmt.Fprintf(&b, "  '%s' = @(", lead(c.path))
		for i, w := range c.words {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "@('%s', '%s ')", w.text, w.help)
		}
		b.WriteString(")\n")
	}
	b.WriteString("}\n$minidoValues = @{\n")
	for _, c := range all {
		for _, e := range c.enums {
			fmt.Fprintf(&b, "  '%s %s' = '%s'\n", lead(c.path), e.text, e.help)
		}
	}
	b.WriteString(`}
Register-ArgumentCompleter -Native -CommandName minido -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $at = ''
  $previous = ''
  foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
    $text = $element.ToString()
    if ($element.Extent.EndOffset -ge $cursorPosition -and $text -eq $wordToComplete) { break }
    if ($minidoWords.ContainsKey("$at $text")) { $at = "$at $text" }
    $previous = $text
  }
  $values = $minidoValues["$at $previous"]
  if ($values) {
    $values -split ' ' | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
    return
  }
  $minidoWords[$at] | Where-Object { $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterName', $_[1])
  }
}
`)
	return b.String()
}
