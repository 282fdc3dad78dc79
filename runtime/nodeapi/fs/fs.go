package fs

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
	"minido.dev/minido/runtime/nodeapi/path"
)

// disk is the file system that Workers see (workerd: src/workerd/io/worker-fs.h):
// /bundle with the worker's modules, read only; /tmp, which lives as long as
// the context; /dev. Loop-confined.
type disk struct {
	bundle *inode
	dev    *inode
	tmp    map[*engine.Context]*inode
	next   int64 // number of the next inode
	used   int64 // bytes in files of /tmp
}

// maxDiskBytes bounds what all of /tmp holds: workerd counts it against the
// isolate's 128 MB.
const maxDiskBytes = 128 << 20

// inode is a file, a folder or a symbolic link. Loop-confined.
type inode struct {
	id       int64
	kind     inodeKind
	children map[string]*inode
	order    []string // names of children, as readdir has them; see put and drop
	data     []byte
	target   string // of a link
	readOnly bool
	device   string // "null", "zero", "full" or "random"
	mode     int64
	changed  time.Time
	accessed time.Time
}

type inodeKind int

const (
	fileNode inodeKind = iota
	folderNode
	linkNode
	deviceNode
)

// fsError is a failure with the code that libuv gives it.
type fsError struct{ code string }

func (e *fsError) Error() string { return fsTexts[e.code] }

var fsTexts = map[string]string{
	"ENOENT": "no such file or directory", "EEXIST": "file already exists", "ENOTDIR": "not a directory",
	"EISDIR": "illegal operation on a directory", "EPERM": "operation not permitted", "ENOTEMPTY": "directory not empty",
	"EINVAL": "invalid argument", "ELOOP": "symlink depth exceeded", "EBADF": "bad file descriptor",
	"ENOSPC": "no space left on device", "ENAMETOOLONG": "name too long",
}

func fsFail(code string) error { return &fsError{code} }

func (m *module) openDisk() *disk {
	if m.disk != nil {
		return m.disk
	}
	d := &disk{tmp: map[*engine.Context]*inode{}}
	m.disk = d
	d.bundle, d.dev = d.node(folderNode), d.node(folderNode)
	d.bundle.readOnly, d.dev.readOnly = true, true
	for _, name := range []string{"null", "zero", "full", "random"} {
		n := d.node(deviceNode)
		n.device = name
		d.dev.put(name, n)
	}
	if m.Options.Files != nil {
		files := m.Options.Files()
		names := make([]string, 0, len(files))
		for name := range files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			d.install(strings.Split(strings.Trim(name, "/"), "/"), files[name])
		}
	}
	return d
}

func (d *disk) node(kind inodeKind) *inode {
	d.next++
	n := &inode{id: d.next, kind: kind, mode: 0o666}
	if kind == folderNode {
		n.children = map[string]*inode{}
	}
	return n
}

// put enters a child. Names are in the order of kj::HashMap, in which workerd keeps them:
// a new one comes last, and the last one takes the place of one that goes.
func (n *inode) put(name string, child *inode) {
	if n.children[name] == nil {
		n.order = append(n.order, name)
	}
	n.children[name] = child
}

// drop removes a child, if there is one of that name.
func (n *inode) drop(name string) {
	i := slices.Index(n.order, name)
	if i < 0 {
		return
	}
	last := len(n.order) - 1
	n.order[i] = n.order[last]
	n.order = n.order[:last]
	delete(n.children, name)
}

// install puts a file of the worker under /bundle.
func (d *disk) install(path []string, data []byte) {
	at := d.bundle
	for _, part := range path[:len(path)-1] {
		next := at.children[part]
		if next == nil || next.kind != folderNode {
			next = d.node(folderNode)
			next.readOnly = true
			at.put(part, next)
		}
		at = next
	}
	n := d.node(fileNode)
	n.data, n.readOnly = data, true
	at.put(path[len(path)-1], n)
}

// root is the top folder as the current context sees it.
func (m *module) root() *inode {
	d := m.openDisk()
	c := m.Engine.Current()
	tmp := d.tmp[c]
	if tmp == nil {
		tmp = d.node(folderNode)
		tmp.changed, tmp.accessed = m.Engine.Now(), m.Engine.Now()
		d.tmp[c] = tmp
		if c != nil {
			c.AtDeath(func(error) {
				d.used -= tmp.weigh()
				delete(d.tmp, c)
			})
		}
	}
	return &inode{kind: folderNode, readOnly: true, mode: 0o777, order: []string{"bundle", "tmp", "dev"},
		children: map[string]*inode{"bundle": d.bundle, "dev": d.dev, "tmp": tmp}}
}

func (n *inode) weigh() int64 {
	total := int64(len(n.data))
	for _, c := range n.children { // order-independent: a sum
		total += c.weigh()
	}
	return total
}

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 40

// find walks a path. The last part's folder and name are given too, so that
// callers can make or remove it; at is nil when only the last part is missing.
// follow says whether a link at the end is followed.
func (m *module) find(path string, follow bool) (parent *inode, name string, at *inode, err error) {
	root := m.root()
	left := splitPath(path)
	trail := []*inode{root}
	names := []string{""}
	for links := 0; len(left) > 0; {
		part := left[0]
		left = left[1:]
		here := trail[len(trail)-1]
		if here.kind != folderNode {
			return nil, "", nil, fsFail("ENOTDIR")
		}
		if part == ".." {
			if len(trail) > 1 {
				trail, names = trail[:len(trail)-1], names[:len(names)-1]
			}
			continue
		}
		next := here.children[part]
		switch {
		case next == nil && len(left) > 0:
			return nil, "", nil, fsFail("ENOENT")
		case next == nil:
			return here, part, nil, nil
		case next.kind == linkNode && (follow || len(left) > 0):
			if links++; links > maxLinks {
				return nil, "", nil, fsFail("ELOOP")
			}
			left = append(splitPath(next.target), left...)
			if strings.HasPrefix(next.target, "/") {
				trail, names = trail[:1], names[:1]
			}
			continue
		}
		trail, names = append(trail, next), append(names, part)
	}
	if len(trail) == 1 {
		return nil, "", root, nil
	}
	return trail[len(trail)-2], names[len(names)-1], trail[len(trail)-1], nil
}

func splitPath(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' })
}

// existing is find for what must be there.
func (m *module) existing(path string, follow bool) (*inode, error) {
	_, _, at, err := m.find(path, follow)
	if e, ok := err.(*fsError); ok && e.code == "ENOTDIR" || err == nil && at == nil {
		err = fsFail("ENOENT") // below a file there is nothing
	}
	return at, err
}

// put adds a new entry to a folder.
func (m *module) put(parent *inode, name string, n *inode) error {
	if parent.readOnly {
		return fsFail("EPERM")
	}
	if len(name) > 255 {
		return fsFail("ENAMETOOLONG")
	}
	n.changed, n.accessed = m.Engine.Now(), m.Engine.Now()
	parent.put(name, n)
	parent.changed = m.Engine.Now()
	return nil
}

// write replaces n's bytes from offset on; the file grows as needed.
func (m *module) write(n *inode, offset int64, data []byte) error {
	if n.device != "" {
		if n.device == "full" {
			return fsFail("ENOSPC")
		}
		return nil
	}
	if n.readOnly {
		return fsFail("EPERM")
	}
	end := offset + int64(len(data))
	if grow := end - int64(len(n.data)); grow > 0 {
		if err := m.resize(n, end); err != nil {
			return err
		}
	}
	copy(n.data[offset:], data)
	n.changed = m.Engine.Now()
	return nil
}

func (m *module) resize(n *inode, size int64) error {
	if n.readOnly || n.kind != fileNode {
		return fsFail("EPERM")
	}
	d := m.openDisk()
	grow := size - int64(len(n.data))
	if d.used+grow > maxDiskBytes {
		return fsFail("ENOSPC")
	}
	d.used += grow
	if size <= int64(cap(n.data)) {
		old := len(n.data)
		n.data = n.data[:size]
		if int64(old) < size {
			clear(n.data[old:])
		}
	} else {
		n.data = append(n.data, make([]byte, grow)...)
	}
	n.changed = m.Engine.Now()
	return nil
}

// read is up to size bytes from offset on.
func (m *module) read(n *inode, offset, size int64) []byte {
	switch n.device {
	case "null":
		return nil
	case "zero", "full":
		return make([]byte, size)
	case "random":
		b := make([]byte, size)
		m.Random(b)
		return b
	}
	offset = min(offset, int64(len(n.data)))
	return n.data[offset:min(offset+size, int64(len(n.data)))]
}

// fsModule are the natives of js/fs.js. Paths are absolute.
func fsModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	// op wraps a Go function whose failure becomes an error with the code; the
	// prelude adds the system call and the paths as they were given.
	op := func(name string, fn func(path string, c goja.FunctionCall) (goja.Value, error)) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			v, err := fn(c.Argument(0).String(), c)
			if err != nil {
				panic(m.fsThrown(err))
			}
			return node.OrUndefined(v)
		}}
	}
	return append(m.fsHandles(), path.Globs(m.Modules),
		op("stat", func(p string, c goja.FunctionCall) (goja.Value, error) {
			n, err := m.existing(p, c.Argument(1).ToBoolean())
			if err != nil {
				return nil, err
			}
			return m.statOf(n), nil
		}),
		op("readdir", func(p string, _ goja.FunctionCall) (goja.Value, error) { return m.readdir(p) }),
		op("mkdir", func(p string, c goja.FunctionCall) (goja.Value, error) { return m.mkdir(p, c.Argument(1).ToBoolean()) }),
		op("unlink", func(p string, _ goja.FunctionCall) (goja.Value, error) { return nil, m.unlink(p) }),
		op("rmdir", func(p string, _ goja.FunctionCall) (goja.Value, error) { return nil, m.rmdir(p, false) }),
		op("rm", func(p string, c goja.FunctionCall) (goja.Value, error) {
			return nil, m.rm(p, c.Argument(1).ToBoolean(), c.Argument(2).ToBoolean())
		}),
		op("rename", func(p string, c goja.FunctionCall) (goja.Value, error) {
			return nil, m.rename(p, c.Argument(1).String())
		}),
		op("link", func(p string, c goja.FunctionCall) (goja.Value, error) {
			n, err := m.existing(p, false)
			if err == nil && n.kind == folderNode {
				err = fsFail("EPERM")
			}
			if err == nil {
				err = m.place(c.Argument(1).String(), n)
			}
			return nil, err
		}),
		op("symlink", func(p string, c goja.FunctionCall) (goja.Value, error) {
			n := m.openDisk().node(linkNode)
			n.target, n.mode = c.Argument(1).String(), 0o444
			return nil, m.place(p, n)
		}),
		op("readlink", func(p string, _ goja.FunctionCall) (goja.Value, error) {
			n, err := m.existing(p, false)
			if err == nil && n.kind != linkNode {
				err = fsFail("EINVAL")
			}
			if err != nil {
				return nil, err
			}
			return m.VM.ToValue(n.target), nil
		}),
		op("utimes", func(p string, c goja.FunctionCall) (goja.Value, error) {
			n, err := m.existing(p, c.Argument(3).ToBoolean())
			if err != nil {
				return nil, err
			}
			n.touch(c.Argument(1), c.Argument(2))
			return nil, nil
		}),
	)
}

// fsThrown is the JavaScript error of a failed operation, which the prelude
// describes (nodejs.org/api/errors.html#class-systemerror).
func (m *module) fsThrown(err error) *goja.Object {
	e, ok := err.(*fsError)
	if !ok {
		return m.NewError("Error", "", err.Error())
	}
	obj := m.NewError("Error", e.code, e.Error())
	m.Define(obj, "errno", m.VM.ToValue(-fsNumbers[e.code]))
	return obj
}

var fsNumbers = map[string]int{"ENOENT": 2, "EEXIST": 17, "ENOTDIR": 20, "EISDIR": 21, "EPERM": 1, "ENOTEMPTY": 39, "EINVAL": 22, "ELOOP": 40, "EBADF": 9, "ENOSPC": 28, "ENAMETOOLONG": 36}

// touch sets the times of last access and change, in milliseconds.
func (n *inode) touch(accessed, changed goja.Value) {
	n.accessed, n.changed = time.UnixMilli(accessed.ToInteger()), time.UnixMilli(changed.ToInteger())
}

// statOf is [kind, size, mode, id, mtimeMs, atimeMs]; the prelude makes Stats.
func (m *module) statOf(n *inode) goja.Value {
	ms := func(t time.Time) int64 {
		if t.IsZero() || n.kind == linkNode { // the reference keeps no times of links
			return 0
		}
		return t.UnixMilli()
	}
	mode := n.mode
	if n.readOnly {
		mode = 0o444
	}
	return m.VM.NewArray(int64(n.kind), int64(len(n.data)), mode, n.id, ms(n.changed), ms(n.accessed))
}
