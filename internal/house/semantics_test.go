package house

import (
	"regexp"
	"strings"
	"testing"
)

var (
	semanticsHead  = regexp.MustCompile(`(?m)^### ([0-9]+)\. `)
	semanticsCited = regexp.MustCompile(`docs/semantics\.md ([0-9]+)(?:(?:, ([0-9]+))*(?: (?:to|and) ([0-9]+))?)?`)
	testDeclared   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	outsideCited   = regexp.MustCompile(`\b(SEMANTICS|DESIGN|ENGINE) [0-9]`)
)

// semanticsFaults are the ways in which docs/semantics.md and the tree disagree:
// a number without tests, a test that does not exist, a citation of a number
// that is not there or of a document outside of the repository.
func semanticsFaults(page string, code []textFile) []string {
	var faults []string
	declared := map[string]bool{}
	for _, f := range code {
		for _, m := range testDeclared.FindAllSubmatch(f.data, -1) {
			declared[string(m[1])] = true
		}
	}
	numbers := map[string]bool{}
	heads := semanticsHead.FindAllStringSubmatchIndex(page, -1)
	for i, at := range heads {
		number, end := page[at[2]:at[3]], len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		numbers[number] = true
		_, tests, found := strings.Cut(page[at[1]:end], "\n- Tests: ")
		tests, _, _ = strings.Cut(tests, "\n\n")
		names := backticked.FindAllStringSubmatch(tests, -1)
		if !found || len(names) == 0 {
			faults = append(faults, "docs/semantics.md "+number+": no test")
		}
		for _, m := range names {
			if name, _, _ := strings.Cut(m[1], "/"); !declared[name] {
				faults = append(faults, "docs/semantics.md "+number+": there is no test "+name)
			}
		}
	}
	for _, f := range code {
		for _, m := range semanticsCited.FindAllSubmatch(f.data, -1) {
			for _, cited := range m[1:] {
				if len(cited) > 0 && !numbers[string(cited)] {
					faults = append(faults, f.path+": docs/semantics.md has no number "+string(cited))
				}
			}
		}
		if m := outsideCited.Find(f.data); m != nil {
			faults = append(faults, f.path+": cites a document that is not in the repository: "+string(m))
		}
	}
	return faults
}

// docs/semantics.md has a test for each number, and what comments cite is there.
func TestSemantics(t *testing.T) {
	var page string
	var code []textFile
	walkTree(t, func(f textFile) {
		switch {
		case f.path == "docs/semantics.md":
			page = string(f.data)
		case strings.HasSuffix(f.path, ".go"):
			code = append(code, f)
		}
	})
	for _, fault := range semanticsFaults(page, code) {
		t.Error(fault)
	}
}

// Each kind of disagreement is found.
func TestSemanticsFaults(t *testing.T) {
	page := "### 1. One\nText.\n- Tests: `TestOne`, `TestGolden/x`\n\n### 2. Two\nText.\n\n### 3. Three\n- Tests: `TestGone`\n"
	code := []textFile{
		{"a_test.go", []byte("package a\nfunc TestOne(t *testing.T) {}\nfunc TestGolden(t *testing.T) {}\n")},
		{"a.go", []byte("// docs/semantics.md 1 and 4.\n// SEM" + "ANTICS 9\n")},
	}
	want := []string{"docs/semantics.md 2: no test", "docs/semantics.md 3: there is no test TestGone",
		"a.go: docs/semantics.md has no number 4", "a.go: cites a document that is not in the repository: SEM" + "ANTICS 9"}
	got := semanticsFaults(page, code)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
