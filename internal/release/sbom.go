package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/internal/version"
	"minido.dev/minido/vitest/bundled"
)

// The parts of a CycloneDX 1.5 document that are written here
// (https://cyclonedx.org/docs/1.5/json/).
type bom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// writeBOM lists the modules that the binaries themselves say they are made of, and
// returns the path of the list.
func writeBOM(out string, made []artifact, c commit) (string, error) {
	var infos []*debug.BuildInfo
	for _, a := range made {
		info, err := buildinfo.ReadFile(a.binary)
		if err != nil {
			return "", fmt.Errorf("what %s is made of: %w", a.binary, err)
		}
		infos = append(infos, info)
	}
	own, err := bundled.Load()
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(bomOf(infos, own.Packages, c), "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(out, "minido-"+version.Number()+".cdx.json")
	return path, os.WriteFile(path, append(data, '\n'), 0o644)
}

func bomOf(infos []*debug.BuildInfo, packages []bundled.Package, c commit) bom {
	main := component{Type: "application", Name: "minido", Version: version.Number(), Properties: []property{{"vcs.revision", c.id}}}
	main.PURL = "pkg:golang/minido.dev/minido@v" + main.Version
	main.Ref = main.PURL
	found := map[string]component{}
	add := func(kind, path, version, sum string) {
		purl := "pkg:" + kind + "/" + strings.ReplaceAll(path, "@", "%40") + "@" + version
		part := component{Type: "library", Ref: purl, Name: path, Version: version, PURL: purl}
		if sum != "" {
			part.Properties = []property{{"go:sum", sum}}
		}
		found[purl] = part
	}
	for _, info := range infos {
		add("golang", "std", strings.TrimPrefix(info.GoVersion, "go"), "")
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			add("golang", m.Path, m.Version, m.Sum)
		}
	}
	for _, p := range packages {
		add("npm", p.Name, p.Version, "")
	}
	b := bom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: metadata{c.at.Format(time.RFC3339), main}, Components: []component{}}
	for _, part := range found { // order-independent: sorted below
		b.Components = append(b.Components, part)
	}
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Ref, y.Ref) })
	uses := dependency{Ref: main.Ref, DependsOn: []string{}}
	for _, part := range b.Components {
		uses.DependsOn = append(uses.DependsOn, part.Ref)
	}
	b.Dependencies = []dependency{uses}
	return b
}
