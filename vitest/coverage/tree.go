package coverage

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/runtime/bundle/counting"
)

// node is a directory, or a file, of istanbul's summarizer pkg: all directories with
// files stand side by side, below a root unless there is one directory only.
type node struct {
	name     string // relative to its parent; "" for the root
	file     *counting.File
	children []*node
	summary  summary
}

// all are the files of a node.
func (n *node) all() (files []*counting.File) {
	if n.file != nil {
		return []*counting.File{n.file}
	}
	for _, c := range n.children {
		files = append(files, c.all()...)
	}
	return files
}

// visit calls fn with each node, parents first, and its depth.
func (n *node) visit(fn func(n *node, depth int)) { n.walk(fn, 0) }

func (n *node) walk(fn func(*node, int), depth int) {
	fn(n, depth)
	for _, c := range n.children {
		c.walk(fn, depth+1)
	}
}

// tree arranges the files.
func tree(files []*counting.File) *node {
	byDir := map[string][]*node{}
	var common []string
	for i, f := range files {
		dir, name := splitPath(f.Path)
		byDir[strings.Join(dir, "/")] = append(byDir[strings.Join(dir, "/")], &node{name: name, file: f, summary: summarize(f)})
		if i == 0 {
			common = dir
		}
		n := 0
		for n < len(common) && n < len(dir) && common[n] == dir[n] {
			n++
		}
		common = common[:n]
	}
	root := &node{summary: sum(files)}
	for dir, children := range byDir { // order-independent: sorted below
		slices.SortFunc(children, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
		if len(byDir) == 1 {
			root.children = children
			return root
		}
		at := &node{name: strings.TrimPrefix(strings.TrimPrefix(dir, strings.Join(common, "/")), "/"), children: children}
		at.summary = sum(at.all())
		root.children = append(root.children, at)
	}
	slices.SortFunc(root.children, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	if len(root.children) > 0 && root.children[0].name == "" { // files of the common directory itself
		prefix := "root"
		if len(common) > 0 && common[len(common)-1] != "" {
			prefix = common[len(common)-1]
		}
		for _, c := range root.children {
			c.name = strings.TrimSuffix(prefix+"/"+c.name, "/")
		}
	}
	return root
}

// splitPath is a path as the names of its directories, and its own.
func splitPath(path string) (dir []string, name string) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return parts[:len(parts)-1], parts[len(parts)-1]
}
