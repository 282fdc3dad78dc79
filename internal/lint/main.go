// Command lint runs the analyzers of go vet and of staticcheck over packages, which it
// loads and type-checks once: `go run ./internal/lint ./...`. Two commands would do that
// twice, and go vet in a process for each package and each of its dependencies.
//
// It ends with 1 if there are findings. Flags are those of staticcheck.
package main

import (
	"fmt"
	"go/token"
	"go/types"
	"os"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/cgocall"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/lintcmd/version"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

// vet are the analyzers of go vet; a test compares them with those of the toolchain.
func vet() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		appends.Analyzer, asmdecl.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer,
		cgocall.Analyzer, composite.Analyzer, copylock.Analyzer, defers.Analyzer, directive.Analyzer, errorsas.Analyzer,
		framepointer.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer, loopclosure.Analyzer,
		lostcancel.Analyzer, nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer,
		stdmethods.Analyzer, stdversion.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer,
		tests.Analyzer, timeformat.Analyzer, unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer,
		unusedresult.Analyzer, waitgroup.Analyzer,
	}
}

func main() {
	cmd := lintcmd.NewCommand("lint")
	cmd.SetVersion(version.Version, version.MachineVersion)
	cmd.ParseFlags(os.Args[1:])
	cmd.AddAnalyzers(simple.Analyzers...)
	cmd.AddAnalyzers(staticcheck.Analyzers...)
	cmd.AddAnalyzers(stylecheck.Analyzers...)
	cmd.AddAnalyzers(unused.Analyzer)
	cmd.AddBareAnalyzers(vet()...)
	if err := sparePackages(staticcheck.Analyzers); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	found, err := ignored(cmd.FlagSet().Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if code := cmd.Execute(); code != 0 || len(found) > 0 {
		os.Exit(max(code, 1))
	}
}

// spared are dependencies with megabytes of tables or of translated C: their intermediate
// form would take a fifth of all CPU time. What it says to other packages is which functions
// have no side effect and which never return nil as an interface, and there are none that
// are called from here.
var spared = map[string]bool{
	"modernc.org/sqlite/lib": true, "modernc.org/libc": true,
	"github.com/andybalholm/brotli": true, "golang.org/x/text/collate": true,
}

// sparePackages has the pass that builds staticcheck's intermediate form build none of the
// spared packages. The pass is internal to staticcheck, and so is what it returns.
func sparePackages(analyzers []*lint.Analyzer) error {
	var find func(*analysis.Analyzer) *analysis.Analyzer
	find = func(a *analysis.Analyzer) *analysis.Analyzer {
		if a.Name == "buildir" {
			return a
		}
		for _, r := range a.Requires {
			if found := find(r); found != nil {
				return found
			}
		}
		return nil
	}
	for _, a := range analyzers {
		built := find(a.Analyzer)
		if built == nil {
			continue
		}
		run := built.Run
		built.Run = func(pass *analysis.Pass) (any, error) {
			if spared[pass.Pkg.Path()] {
				return reflect.New(built.ResultType.Elem()).Interface(), nil
			}
			return run(pass)
		}
		return nil
	}
	return fmt.Errorf("staticcheck has no pass buildir any more: sparePackages has to find what took its place")
}

// ignored are findings in files that this system's build leaves out, of the analyzers of
// go vet that look at them: staticcheck's runner does not name them.
func ignored(patterns []string) (found []string, err error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if len(p.IgnoredFiles) == 0 {
			continue
		}
		for _, a := range []*analysis.Analyzer{buildtag.Analyzer, directive.Analyzer} {
			files := token.NewFileSet()
			pass := &analysis.Pass{Analyzer: a, Fset: files, Pkg: types.NewPackage(p.PkgPath, p.Name), IgnoredFiles: p.IgnoredFiles, ReadFile: os.ReadFile,
				Report: func(d analysis.Diagnostic) {
					found = append(found, fmt.Sprintf("%s: %s (%s)", files.Position(d.Pos), d.Message, a.Name))
				}}
			if _, err := a.Run(pass); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", p.PkgPath, a.Name, err)
			}
		}
	}
	return found, nil
}
