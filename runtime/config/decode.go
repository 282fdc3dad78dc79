package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// decode builds the Project from the selected environment.
func (l *loader) decode(sel *selection) *Project {
	p := &Project{ConfigFile: l.file, Dir: sel.dir, Files: l.files, Environment: sel.name}
	l.decodeName(sel, p)
	l.decodeModules(sel, p)
	l.decodeAssets(sel, p)
	l.decodeEntry(sel, p)
	p.CompatibilityDate, p.CompatibilityFlags = resolveCompat(l.rep, sel)
	p.CompatibilityDateWhere = sel.field("compatibility_date").where()
	if date := l.options.CompatibilityDate; date != "" {
		p.CompatibilityDate = min(date, LatestCompatibilityDate)
	}
	if flags := l.options.CompatibilityFlags; len(flags) > 0 {
		p.CompatibilityFlags = flags
	}
	checkUnheeded(l.rep, sel, p)
	decodeDurableObjects(l.rep, sel, p)
	l.decodeTriggers(sel, p)
	decodeDev(sel, p, l.options)
	p.Bindings, p.Attachments = decodeBindings(l.rep, sel)
	checkUniqueNames(l.rep, sel, p.Bindings)
	vars := &varLoader{
		rep: l.rep, sel: sel, options: l.options, root: l.root, dir: sel.dir, process: l.process,
		project: p, index: map[string]int{},
	}
	if l.userFile != "" {
		vars.dir = filepath.Dir(l.userFile)
	}
	vars.load()
	return p
}

// defaultName is what wrangler calls a worker without a name.
const defaultName = "worker"

// decodeName settles the worker's name. An environment without a name of its
// own appends its name.
func (l *loader) decodeName(sel *selection, p *Project) {
	n := sel.field("name")
	p.Name = n.str()
	if p.Name == "" {
		p.Name = defaultName
	}
	own := sel.env != nil && present(sel.env.get("name")) != nil
	if sel.name != "" && !own && !sel.frozen && n != nil {
		p.Name += "-" + sel.name
	}
	if err := ValidateScriptName(p.Name); err != nil && ValidateScriptName(n.str()) == nil {
		l.rep.errorAt(n, fmt.Sprintf("give \"env.%s\" a \"name\" of its own", sel.name), "%s", nameProblem(err))
	}
	if len(p.Name) > maxDNSLabel {
		l.rep.warnAt(n, "a deployment below workers.dev needs a shorter one", "the worker's name %q has more than %d characters", p.Name, maxDNSLabel)
	}
}

// decodeModules reads how the worker is built.
func (l *loader) decodeModules(sel *selection, p *Project) {
	p.NoBundle = sel.field("no_bundle").boolean(false)
	p.FindAdditionalModules = sel.field("find_additional_modules").boolean(p.NoBundle)
	p.PreserveFileNames = sel.field("preserve_file_names").boolean(false)
	p.Minify = sel.field("minify").boolean(false)
	p.KeepNames = sel.field("keep_names").boolean(true)
	p.TSConfig = sel.abs(sel.field("tsconfig").str())
	p.BaseDir = sel.abs(sel.field("base_dir").str())
	p.JSXFactory, p.JSXFragment = "React.createElement", "React.Fragment"
	if s := sel.field("jsx_factory").str(); s != "" {
		p.JSXFactory = s
	}
	if s := sel.field("jsx_fragment").str(); s != "" {
		p.JSXFragment = s
	}
	p.Define = keyValues(sel.field("define"))
	p.Alias = keyValues(sel.field("alias"))
	p.Rules = decodeRules(l.rep, sel)
	build := sel.field("build")
	p.Build = Build{Command: build.get("command").str(), Cwd: sel.abs(build.get("cwd").str()), Where: build.get("command").where()}
	if p.Build.Cwd == "" {
		p.Build.Cwd = sel.dir
	}
	dirs := build.get("watch_dir").texts()
	if len(dirs) == 0 {
		dirs = []string{"./src"}
	}
	for _, dir := range dirs {
		p.Build.WatchDirs = append(p.Build.WatchDirs, sel.abs(dir))
	}
}

func keyValues(n *node) []KeyValue {
	var out []KeyValue
	for _, m := range n.entries() {
		if m.kind == kindString {
			out = append(out, KeyValue{Key: m.key, Value: m.text, Where: m.where()})
		}
	}
	return out
}

// defaultRules are wrangler's own module rules.
func defaultRules() []Rule {
	return []Rule{
		{Type: "Text", Globs: []string{"**/*.txt", "**/*.html", "**/*.sql"}, Default: true},
		{Type: "Data", Globs: []string{"**/*.bin"}, Default: true},
		{Type: "CompiledWasm", Globs: []string{"**/*.wasm", "**/*.wasm?module"}, Default: true},
	}
}

// decodeRules returns the rules that count: of each type all up to the first
// one without "fallthrough": true.
func decodeRules(rep *report, sel *selection) []Rule {
	var out []Rule
	settled := map[string]*node{}
	for _, n := range sel.field("rules").elements() {
		kind := n.get("type").str()
		if last := settled[kind]; last != nil {
			if last.get("fallthrough") == nil {
				rep.warnAt(n, `add "fallthrough": true to that rule to use this one too, or false to silence this`,
					"this rule is ignored: the %q rule at line %d is the last of its type", kind, last.where().Line)
			}
			continue
		}
		if !n.get("fallthrough").boolean(false) {
			settled[kind] = n
		}
		out = append(out, Rule{Type: kind, Globs: n.get("globs").texts(), Where: n.where()})
	}
	for _, r := range defaultRules() {
		if settled[r.Type] == nil {
			out = append(out, r)
		}
	}
	return out
}

// decodeEntry settles the entry file.
func (l *loader) decodeEntry(sel *selection, p *Project) {
	main := sel.field("main")
	p.Main, p.MainWhere = sel.abs(main.str()), main.where()
	if l.entry != "" {
		p.Main, p.MainWhere = l.entry, Position{}
	} else if entry := sel.field("site").get("entry-point"); p.Main == "" && entry.str() != "" {
		p.Main, p.MainWhere = sel.abs(entry.text), entry.where()
	}
	if p.BaseDir == "" && p.Main != "" {
		p.BaseDir = filepath.Dir(p.Main)
	}
	if p.Main == "" {
		l.checkNoEntry(sel, p, main)
		return
	}
	if filepath.Ext(p.Main) == ".py" {
		l.rep.add(sel.at(p.MainWhere, SeverityError, "Python workers do not run under minido", "point \"main\" at a JavaScript or TypeScript file"))
		return
	}
	if p.Build.Command == "" {
		if d, missing := p.CheckMain(); missing {
			d.src = sel.src
			l.rep.add(d)
		}
	}
}

// checkNoEntry reports a project with nothing to run and nothing to serve.
func (l *loader) checkNoEntry(sel *selection, p *Project, main *node) {
	switch {
	case main != nil && main.kind != kindString:
		// The schema has reported it.
	case p.Assets != nil && p.Assets.Binding != "":
		l.rep.errorAt(sel.field("assets").get("binding"), `add "main", or remove "binding"`,
			`an assets binding needs a worker, but there is no "main"`)
	case p.Assets != nil:
		if first := sel.field("assets").get("run_worker_first"); first.boolean(false) || len(first.elements()) > 0 {
			l.rep.errorAt(first, `add "main", or remove "run_worker_first"`, `"run_worker_first" needs a worker, but there is no "main"`)
		}
	case sel.field("pages_build_output_dir") != nil:
		l.rep.errorAt(sel.field("pages_build_output_dir"), `add "main" and "assets" to make it a Workers project`,
			"this is a Pages project, which minido does not run")
	default:
		l.rep.errorAt(sel.top, `add "main": "src/index.ts", or "assets": {"directory": "./public"}`,
			`there is nothing to run: the file has no "main" and no "assets"`)
	}
}

// sourceExtensions are tried when "main" does not exist, for the hint.
var sourceExtensions = []string{".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs"}

// CheckMain looks whether the entry file exists, and describes the problem if
// it does not. Load calls it unless a custom build will make the file; after
// such a build the caller does.
func (p *Project) CheckMain() (Diagnostic, bool) {
	info, err := os.Stat(p.Main)
	shown := p.Relative(p.Main)
	switch {
	case err == nil && info.Mode().IsRegular():
		return Diagnostic{}, false
	case err == nil:
		hint := "name a file, such as src/index.ts"
		if p.MainWhere == (Position{}) { // an argument
			hint = fmt.Sprintf("name a file, such as src/index.ts; --cwd %s runs the project of that directory", shown)
		}
		return NewDiagnostic(SeverityError, p.MainWhere, nil, fmt.Sprintf("the entry %q is not a file", shown), hint), true
	}
	hint := ""
	stem := strings.TrimSuffix(p.Main, filepath.Ext(p.Main))
	for _, ext := range sourceExtensions {
		if info, err := os.Stat(stem + ext); err == nil && info.Mode().IsRegular() {
			hint = fmt.Sprintf("did you mean %q?", p.Relative(stem+ext))
			break
		}
	}
	return NewDiagnostic(SeverityError, p.MainWhere, nil, fmt.Sprintf("the entry file %q does not exist", shown), hint), true
}

// decodeTriggers reads crons, limits and observability.
func (l *loader) decodeTriggers(sel *selection, p *Project) {
	for _, n := range sel.field("triggers").get("crons").elements() {
		if n.kind == kindString {
			p.Crons = append(p.Crons, Cron{Expression: n.text, Where: n.where()})
		}
	}
	limits := sel.field("limits")
	p.Limits = Limits{CPUMilliseconds: int(limits.get("cpu_ms").number(0)), Subrequests: int(limits.get("subrequests").number(0))}
	if n := sel.field("observability"); n != nil {
		p.Observability = params(n)
	}
}

func decodeDev(sel *selection, p *Project, o Options) {
	n := sel.field("dev")
	p.Dev = Dev{
		IP: n.get("ip").str(), Port: int(n.get("port").number(0)), PortSet: n.get("port") != nil,
		InspectorPort: int(n.get("inspector_port").number(0)), LocalProtocol: cmp.Or(o.LocalProtocol, n.get("local_protocol").str()), Host: n.get("host").str(),
		IPWhere: n.get("ip").where(), PortWhere: n.get("port").where(), ProtocolWhere: n.get("local_protocol").where(),
	}
	p.Dev.UpstreamProtocol = cmp.Or(o.UpstreamProtocol, n.get("upstream_protocol").str(), p.Dev.LocalProtocol)
	p.Dev.Host = cmp.Or(o.Host, p.Dev.Host)
	first := sel.field("route")
	if routes := sel.field("routes").elements(); first == nil && len(routes) > 0 {
		first = routes[0]
	}
	p.Zone = first.get("zone_name").str()
	if p.Dev.Host == "" && first != nil {
		p.Dev.Host = cmp.Or(hostOfRoute(first.str()), hostOfRoute(first.get("pattern").str()), hostOfRoute(first.get("zone_name").str()))
	}
}

// hostOfRoute is the host of a pattern such as "*.example.com/api/*", "" if it
// names none (wrangler: workers-utils, route-utils.ts).
func hostOfRoute(pattern string) string {
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "http://"), "https://")
	if strings.HasPrefix(pattern, "*/") {
		return ""
	}
	host, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(pattern, "*.", ""), "*", ""), "/")
	return host
}

// Limits of run_worker_first, from wrangler's parseStaticRouting.
const (
	maxRouteRules     = 100
	maxRouteRuleBytes = 100
)

// decodeAssets reads the assets section.
func (l *loader) decodeAssets(sel *selection, p *Project) {
	n := sel.field("assets")
	if n == nil || n.kind != kindObject {
		return
	}
	a := &Assets{
		Binding: n.get("binding").str(), BasePath: n.get("base_path").str(),
		HTMLHandling: n.get("html_handling").str(), NotFoundHandling: n.get("not_found_handling").str(), Where: n.where(),
	}
	if a.HTMLHandling == "" {
		a.HTMLHandling = "auto-trailing-slash"
	}
	if a.NotFoundHandling == "" {
		a.NotFoundHandling = "none"
	}
	p.Assets = a
	if site := sel.field("site"); site != nil {
		l.rep.errorAt(site, "remove one of the two", `"site" and "assets" exclude each other`)
	}
	l.decodeAssetsDirectory(sel, p, n)
	first := n.get("run_worker_first")
	a.RunWorkerFirst = first.boolean(false)
	if first != nil && first.kind == kindArray {
		l.decodeWorkerFirst(a, first)
	}
	if a.RunWorkerFirst && a.Binding == "" && (l.entry != "" || sel.field("main") != nil) {
		l.rep.warnAt(first, `add "binding": "ASSETS" to reach them from the worker`,
			`"run_worker_first" sends every request to the worker, which has no binding to the assets`)
	}
}

func (l *loader) decodeAssetsDirectory(sel *selection, p *Project, n *node) {
	directory := n.get("directory")
	if directory.str() == "" {
		if directory == nil || directory.kind == kindString {
			l.findAssets(sel, p, n)
		}
		return
	}
	p.Assets.Directory = sel.abs(directory.text)
	info, err := os.Stat(p.Assets.Directory)
	switch {
	case err == nil && !info.IsDir():
		l.rep.errorAt(directory, "", "the assets directory %q is not a directory", directory.text)
	case err != nil && p.Build.Command == "":
		l.rep.errorAt(directory, "create it, or build the project first", "the assets directory %q does not exist", directory.text)
	}
}

// findAssets looks for the assets of a section without a directory: those of Vite
// projects lie where the last build has put them.
func (l *loader) findAssets(sel *selection, p *Project, n *node) {
	const missing = `The "assets" property in your configuration is missing the required "directory" property.`
	if !isVite(sel.dir) {
		l.rep.errorAt(n, `add "directory": "./public", or --assets DIR`, missing)
		return
	}
	out := viteOutput(sel.dir)
	if out == "" {
		l.rep.errorAt(n, `this is a Vite project: run "npx vite build", then minido serves what it made; for a folder other than dist add "directory", or --assets DIR`, missing)
		return
	}
	p.Assets.Directory = sel.abs(out)
	l.rep.warnAt(n, `run "npx vite build" after changes, or "npx vite build --watch" beside minido`,
		`"assets" has no "directory": what the last "vite build" put into %s is served`, out)
}

// decodeWorkerFirst splits the rules of run_worker_first.
func (l *loader) decodeWorkerFirst(a *Assets, list *node) {
	var seen []string
	for _, n := range list.items {
		rule := n.str()
		switch {
		case slices.Contains(seen, rule):
			l.rep.errorAt(n, "", "the rule %q is here twice", rule)
		case len(rule) > maxRouteRuleBytes:
			l.rep.errorAt(n, "", "a rule of \"run_worker_first\" has at most %d characters", maxRouteRuleBytes)
		case strings.HasPrefix(rule, "/"):
			a.WorkerFirst = append(a.WorkerFirst, rule)
		case strings.HasPrefix(rule, "!/"):
			a.AssetsFirst = append(a.AssetsFirst, rule[1:])
		default:
			l.rep.errorAt(n, "", "a rule of \"run_worker_first\" begins with \"/\" or \"!/\", but this is %q", rule)
		}
		seen = append(seen, rule)
	}
	switch {
	case len(list.items) > maxRouteRules:
		l.rep.errorAt(list, "", "\"run_worker_first\" has %d rules; at most %d are allowed", len(list.items), maxRouteRules)
	case len(a.WorkerFirst) == 0 && len(a.AssetsFirst) > 0:
		l.rep.errorAt(list, `add a rule without "!", such as "/*"`, "\"run_worker_first\" has only negative rules")
	case len(list.items) == 0:
		l.rep.errorAt(list, "write false, or a rule such as \"/api/*\"", "\"run_worker_first\" is an empty list")
	}
}
