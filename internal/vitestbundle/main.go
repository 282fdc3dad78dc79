// Command vitestbundle builds the vitest that a binary contains for projects without
// one: npm vitest as one minified module, with the licences of the packages in it. The
// same packages give the same bytes. "make build" runs it.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/vitest/bundled"
)

func main() {
	from := flag.String("from", "fixtures/testing", "directory whose node_modules has vitest")
	out := flag.String("out", filepath.Join("vitest/bundled", bundled.File), "the file to write")
	flag.Parse()
	v, err := Make(*from)
	if err == nil {
		err = write(*out, v)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vitestbundle:", err)
		os.Exit(1)
	}
}

// entry is what is bundled: vitest, and what runs it in a worker.
const entry = `export * from "vitest";
import { startTests } from "@vitest/runner";
import { processError } from "@vitest/utils/error";
import { setSafeTimers } from "@vitest/utils/timers";
import * as mocker from "@vitest/mocker";
import * as spy from "@vitest/spy";
export const ` + bundled.Parts + ` = { startTests, processError, setSafeTimers, mocker, spy };
`

// Make bundles the vitest that is installed in dir.
func Make(dir string) (*bundled.Vitest, error) {
	result := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: entry, ResolveDir: absolute(dir)},
		Bundle: true, Format: api.FormatESModule, Target: api.ESNext, Platform: api.PlatformNeutral, MainFields: []string{"module", "main"}, Conditions: []string{"import", "node"}, External: []string{"node:*"},
		// Reports show the names of classes and functions.
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, KeepNames: true, LegalComments: api.LegalCommentsNone,
		Metafile: true, AbsWorkingDir: absolute(dir), Outfile: "vitest.js",
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}), ""))
	}
	var meta struct{ Inputs map[string]struct{} }
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, err
	}
	v := &bundled.Vitest{Module: string(result.OutputFiles[0].Contents)}
	roots := map[string]bool{}
	for path := range meta.Inputs { // order-independent: a set
		if root := packageOf(path); root != "" {
			roots[root] = true
		}
	}
	var licenses strings.Builder
	for _, root := range slices.Sorted(maps.Keys(roots)) {
		p, text, err := describe(filepath.Join(dir, root))
		if err != nil {
			return nil, err
		}
		v.Packages = append(v.Packages, p)
		licenses.WriteString(text)
	}
	i := slices.IndexFunc(v.Packages, func(p bundled.Package) bool { return p.Name == "vitest" })
	if i < 0 {
		return nil, errors.New("nothing of the package vitest is in the bundle")
	}
	main := v.Packages[i]
	v.Packages = append([]bundled.Package{main}, slices.Delete(v.Packages, i, i+1)...)
	v.Licenses = licenses.String()
	return v, nil
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

var packageFolder = lazyregexp.New(`^(?:.*/)?node_modules/(?:@[^/]+/)?[^/]+`)

// packageOf is the folder of the package that a file belongs to.
func packageOf(path string) string { return packageFolder.FindString(filepath.ToSlash(path)) }

var legal = lazyregexp.New(`(?i)^(licen[cs]e|copying|notice)`)

// describe reads what a package says of itself, and its licence.
func describe(root string) (p bundled.Package, license string, err error) {
	data, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		return p, "", err
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, "", fmt.Errorf("%s: %w", root, err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return p, "", err
	}
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, e.Name()))
		if err != nil {
			return p, "", err
		}
		license += fmt.Sprintf("\n%s\nnpm %s %s: %s\n\n%s\n", strings.Repeat("-", 80), p.Name, p.Version, e.Name(), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	if license == "" {
		return p, "", fmt.Errorf("%s has no licence file", root)
	}
	return p, license, nil
}

// write replaces the file at once: a build may be reading it.
func write(path string, v *bundled.Vitest) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
