package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// wranglerFlags are flags of `wrangler dev` that scripts pass and that people
// need not see in the help. What would change the worker is obeyed; the rest is
// about things that minido does not have and is ignored.
type wranglerFlags struct {
	CompatibilityDate  string   `hidden:"" help:"Instead of the wrangler file's compatibility_date."`
	CompatibilityFlags []string `hidden:"" aliases:"compatibility-flag" help:"Instead of the wrangler file's compatibility_flags."`
	Cwd                string   `hidden:"" help:"Work in this directory."`

	Bundle           bool   `hidden:"" default:"true" negatable:"" help:"Accepted: minido always bundles."`
	EnableContainers bool   `hidden:"" default:"true" negatable:"" help:"Accepted and ignored: there are no containers."`
	Host             string `hidden:"" help:"Accepted and ignored."`
	Inspect          bool   `hidden:"" negatable:"" help:"Accepted and ignored: there is no inspector."`
	InspectorIP      string `hidden:"" name:"inspector-ip" help:"Accepted and ignored: there is no inspector."`
	InstallSkills    bool   `hidden:"" negatable:"" help:"Accepted and ignored."`
	LocalProtocol    string `hidden:"" enum:"http," default:"" help:"Accepted if it is http."`
	LocalUpstream    string `hidden:"" help:"Accepted and ignored."`
	Minify           bool   `hidden:"" negatable:"" help:"Accepted and ignored."`
	Strict           bool   `hidden:"" negatable:"" help:"Accepted and ignored."`
	Types            bool   `hidden:"" negatable:"" help:"Accepted and ignored."`
	UpstreamProtocol string `hidden:"" help:"Accepted and ignored."`
}

var compatibilityDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// apply checks the flags and enters the directory.
func (f wranglerFlags) apply() error {
	if f.CompatibilityDate != "" && !compatibilityDate.MatchString(f.CompatibilityDate) {
		return fmt.Errorf("minido: --compatibility-date %s is not a date such as 2026-08-01", f.CompatibilityDate)
	}
	if f.Cwd != "" {
		if err := os.Chdir(f.Cwd); err != nil {
			return fmt.Errorf("minido: --cwd: %w", err)
		}
	}
	return nil
}

// switches are the flags of `dev` that are on or off.
var switches = map[string]bool{
	"--bundle": true, "--enable-containers": true, "--inspect": true, "--install-skills": true, "--live-reload": true,
	"--local": true, "--minify": true, "--show-interactive-dev-session": true, "--strict": true, "--test-scheduled": true, "--types": true,
}

// asWranglerReadsThem rewrites the arguments of `minido dev` from the forms that
// wrangler's parser (yargs) takes and minido's does not: --persistTo for
// --persist-to, `--live-reload false` for --live-reload=false, and switches of
// experiments (--x-NAME, --experimental-NAME), which are left out.
func asWranglerReadsThem(args []string) []string {
	if len(args) == 0 || args[0] != "dev" {
		return args
	}
	out := []string{"dev"}
	for i := 1; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if !strings.HasPrefix(args[i], "--") {
			out = append(out, args[i])
			continue
		}
		name, value, assigned := strings.Cut(args[i], "=")
		name = kebab(name)
		experiment := strings.HasPrefix(name, "--x-") || strings.HasPrefix(name, "--experimental-")
		if !assigned && (experiment || switches[name]) && i+1 < len(args) && (args[i+1] == "true" || args[i+1] == "false") {
			value, assigned = args[i+1], true
			i++
		}
		if experiment {
			continue
		}
		if assigned {
			name += "=" + value
		}
		out = append(out, name)
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
