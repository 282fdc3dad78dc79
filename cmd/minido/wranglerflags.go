package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// wranglerFlags are flags of `wrangler dev` that are obeyed and that people need
// not see in the help. Those that are not obeyed are in wranglerTakes.
type wranglerFlags struct {
	CompatibilityDate  string   `hidden:"" help:"Instead of the wrangler file's compatibility_date."`
	CompatibilityFlags []string `hidden:"" aliases:"compatibility-flag" help:"Instead of the wrangler file's compatibility_flags."`
	Cwd                string   `hidden:"" help:"Work in this directory."`
	LocalProtocol      string   `hidden:"" enum:"http,https," default:"" help:"What the listener speaks."`
	HTTPSKeyPath       string   `hidden:"" name:"https-key-path" env:"WRANGLER_HTTPS_KEY_PATH" help:"The key of the listener's certificate."`
	HTTPSCertPath      string   `hidden:"" name:"https-cert-path" env:"WRANGLER_HTTPS_CERT_PATH" help:"The listener's certificate."`
	Host               string   `hidden:"" aliases:"local-upstream" help:"The host that request.url names."`
	UpstreamProtocol   string   `hidden:"" enum:"http,https," default:"" help:"The scheme that request.url has."`
	Remote             bool     `hidden:"" short:"r" help:"Accepted if it is false."`

	Assets      string   `hidden:"" help:"The directory of the assets."`
	Name        string   `hidden:"" help:"The worker's name."`
	Define      []string `hidden:"" sep:"none" help:"NAME:EXPRESSION, added to the wrangler file's define."`
	Alias       []string `hidden:"" sep:"none" help:"MODULE:MODULE, added to the wrangler file's alias."`
	JSXFactory  string   `hidden:"" name:"jsx-factory" help:"The function that JSX elements call."`
	JSXFragment string   `hidden:"" name:"jsx-fragment" help:"What JSX fragments are."`
	TSConfig    string   `hidden:"" name:"tsconfig" help:"The tsconfig.json that counts."`

	ShowInteractiveDevSession bool `default:"true" hidden:"" help:"Hotkeys on a terminal."`
}

var compatibilityDate = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)

// apply checks the flags and enters the directory.
func (f wranglerFlags) apply() error {
	if f.CompatibilityDate != "" && !compatibilityDate.MatchString(f.CompatibilityDate) {
		return fmt.Errorf("minido: --compatibility-date %s is not a date such as 2026-08-01", f.CompatibilityDate)
	}
	if f.Remote {
		return errors.New("minido: --remote: workers run on this machine alone; leave the flag out")
	}
	if f.Cwd != "" {
		if err := os.Chdir(f.Cwd); err != nil {
			return fmt.Errorf("minido: --cwd: %w", err)
		}
	}
	return nil
}

// inFile are the flags that stand for members of the wrangler file, as JSON; nil if
// none is given. Paths are relative to the current directory.
func (f wranglerFlags) inFile() ([]byte, error) {
	members := map[string]any{}
	for key, value := range map[string]string{"name": f.Name, "jsx_factory": f.JSXFactory, "jsx_fragment": f.JSXFragment} { // order-independent: a map again
		if value != "" {
			members[key] = value
		}
	}
	for key, pairs := range map[string][]string{"define": f.Define, "alias": f.Alias} { // order-independent: a map again
		values := map[string]string{}
		for _, pair := range pairs {
			name, value, ok := strings.Cut(pair, ":")
			if !ok || name == "" {
				return nil, fmt.Errorf("minido: --%s %s is not NAME:VALUE", key, pair)
			}
			values[name] = value
		}
		if len(values) > 0 {
			members[key] = values
		}
	}
	if f.TSConfig != "" {
		at, err := filepath.Abs(f.TSConfig)
		if err != nil {
			return nil, fmt.Errorf("minido: --tsconfig: %w", err)
		}
		members["tsconfig"] = at
	}
	if f.Assets != "" {
		at, err := filepath.Abs(f.Assets)
		if err != nil {
			return nil, fmt.Errorf("minido: --assets: %w", err)
		}
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("minido: The directory specified by the \"--assets\" command line argument does not exist:\n\n  %s", at)
		}
		members["assets"] = map[string]string{"directory": at}
	}
	if len(members) == 0 {
		return nil, nil
	}
	return json.Marshal(members)
}

// taking says what follows a flag of wrangler's parser.
type taking int

const (
	nothing taking = iota // a switch: true or false may follow
	value                 // one argument
	values                // all arguments up to the next flag
)

// ignored is a flag of `wrangler dev` that minido takes and does not obey.
type ignored struct {
	takes taking
	// note tells people what to do instead. Flags about things that minido does not
	// have (routes), or always does, have none.
	note string
}

// wranglerTakes are the flags of `wrangler dev` that are taken and not obeyed.
var wranglerTakes = map[string]ignored{
	"--bundle":                   {takes: nothing},
	"--enable-containers":        {takes: nothing},
	"--infer-origin-from-routes": {takes: nothing},
	"--inspect":                  {takes: nothing},
	"--inspector-ip":             {value, "it listens on 127.0.0.1"},
	"--install-skills":           {takes: nothing},
	"--latest":                   {takes: nothing},
	"--legacy-env":               {takes: nothing},
	"--live-reload":              {takes: nothing},
	"--local":                    {takes: nothing},
	"--minify":                   {takes: nothing},
	"--profile":                  {takes: value},
	"--route":                    {takes: values},
	"--routes":                   {takes: values},
	"--strict":                   {takes: nothing},
	"--types":                    {takes: nothing},

	"--dispatch-namespace":  {value, "there are no dispatch namespaces"},
	"--node-compat":         {nothing, "use the compatibility flag nodejs_compat"},
	"--site":                {value, "use assets in the wrangler file"},
	"--site-exclude":        {values, "use assets in the wrangler file"},
	"--site-include":        {values, "use assets in the wrangler file"},
	"--tunnel":              {nothing, "there are no tunnels"},
	"--tunnel-allowed-mail": {values, "there are no tunnels"},
	"--tunnel-name":         {value, "there are no tunnels"},
}

// repeated are flags that wrangler takes once with several arguments and that
// minido takes several times, and what their arguments look like.
var repeated = map[string]*lazyregexp.Regexp{
	"--var":                 lazyregexp.New(`^\w+:`),
	"--compatibility-flags": lazyregexp.New(`^\w+$`),
	"--compatibility-flag":  lazyregexp.New(`^\w+$`),
	"--define":              lazyregexp.New(`^[^-:][^:]*:`),
	"--alias":               lazyregexp.New(`^[^-:][^:]*:`),
}

// obeyedSwitches are the switches that minido's own parser gets.
var obeyedSwitches = map[string]bool{"--remote": true, "--test-scheduled": true, "--show-interactive-dev-session": true}

// asWranglerReadsThem rewrites the arguments of `minido dev` from the forms that
// wrangler's parser (yargs) takes and minido's does not: --persistTo for
// --persist-to, `--test-scheduled false` or --no-test-scheduled for
// --test-scheduled=false, `--var A:1 B:2` for two flags. It leaves out the flags
// that are not obeyed and switches of experiments (--x-NAME,
// --experimental-NAME); notes say of which people should know.
func asWranglerReadsThem(args []string) (out, notes []string) {
	if len(args) == 0 || args[0] != "dev" {
		return args, nil
	}
	out = []string{"dev"}
	for i := 1; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...), notes
		}
		if args[i] == "-l" {
			continue // --local
		}
		if !strings.HasPrefix(args[i], "--") {
			out = append(out, args[i])
			continue
		}
		f := readFlag(args[i])
		known, left := wranglerTakes[f.name]
		left = left || f.experiment()
		f.more = followers(f, known.takes, left, args[i+1:])
		i += len(f.more)
		if left {
			if known.note != "" {
				notes = append(notes, fmt.Sprintf("%s is not obeyed here: %s", f.name, known.note))
			}
			continue
		}
		out = append(out, f.rewritten()...)
	}
	return out, notes
}

// wranglerFlag is a flag as it was written.
type wranglerFlag struct {
	name, value string
	assigned    bool
	more        []string // the arguments that belong to it
}

func readFlag(text string) (f wranglerFlag) {
	f.name, f.value, f.assigned = strings.Cut(text, "=")
	f.name = kebab(f.name)
	positive, negated := strings.CutPrefix(f.name, "--no-")
	if !negated {
		return f
	}
	off := wranglerFlag{name: "--" + positive, value: "false", assigned: true}
	if ignored, known := wranglerTakes[off.name]; known && ignored.takes == nothing || obeyedSwitches[off.name] || off.experiment() {
		return off
	}
	return f
}

func (f wranglerFlag) experiment() bool {
	return strings.HasPrefix(f.name, "--x-") || strings.HasPrefix(f.name, "--experimental-")
}

// followers are those of the arguments after a flag that belong to it and that
// minido's parser would not take for its own.
func followers(f wranglerFlag, takes taking, left bool, rest []string) []string {
	n := 0
	switch like := repeated[f.name]; {
	case f.assigned:
	case like != nil:
		for n < len(rest) && like.MatchString(rest[n]) {
			n++
		}
	case left && takes == values:
		for n < len(rest) && !strings.HasPrefix(rest[n], "-") {
			n++
		}
	case left && takes == value:
		n = min(1, len(rest))
	case (left || obeyedSwitches[f.name]) && len(rest) > 0 && (rest[0] == "true" || rest[0] == "false"):
		n = 1
	}
	return rest[:n]
}

// rewritten is the flag in the form that minido's parser takes.
func (f wranglerFlag) rewritten() (out []string) {
	switch {
	case f.assigned:
		return []string{f.name + "=" + f.value}
	case obeyedSwitches[f.name] && len(f.more) == 1:
		return []string{f.name + "=" + f.more[0]}
	case len(f.more) == 0:
		return []string{f.name}
	}
	for _, v := range f.more {
		out = append(out, f.name, v)
	}
	return out
}

// kebab turns --persistTo into --persist-to.
func kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
