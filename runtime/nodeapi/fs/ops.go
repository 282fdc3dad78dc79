package fs

import (
	"cmp"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// readdir is the names of a folder, in their order, each followed by its kind.
func (m *module) readdir(path string) (goja.Value, error) {
	n, err := m.existing(path, true)
	if err == nil && n.kind != folderNode {
		err = fsFail("ENOTDIR")
	}
	if err != nil {
		return nil, err
	}
	items := make([]any, 0, 2*len(n.order))
	for _, name := range n.order {
		items = append(items, name, int64(n.children[name].kind))
	}
	return m.VM.NewArray(items...), nil
}

// mkdir makes a folder; with recursive also those above, and it returns the
// first one made.
func (m *module) mkdir(path string, recursive bool) (goja.Value, error) {
	if !recursive {
		return nil, m.place(path, m.openDisk().node(folderNode))
	}
	first := ""
	parts := splitPath(path)
	for i := range parts {
		p := "/" + strings.Join(parts[:i+1], "/")
		n, err := m.existing(p, true)
		switch {
		case err == nil && n.kind == folderNode:
			continue
		case err == nil && i == len(parts)-1:
			return nil, fsFail("EEXIST")
		case err == nil:
			return nil, fsFail("ENOTDIR")
		}
		if err := m.place(p, m.openDisk().node(folderNode)); err != nil {
			return nil, err
		}
		if first == "" {
			first = p
		}
	}
	if first == "" {
		return nil, nil
	}
	return m.VM.ToValue(first), nil
}

// place adds a new entry at a path where none is.
func (m *module) place(path string, n *inode) error {
	parent, name, at, err := m.find(path, false)
	switch {
	case err != nil:
		return err
	case at != nil:
		return fsFail("EEXIST")
	}
	return m.put(parent, name, n)
}

func (m *module) take(parent *inode, name string, n *inode) error {
	if parent == nil || parent.readOnly || n.readOnly {
		return fsFail("EPERM")
	}
	parent.drop(name)
	parent.changed = m.Engine.Now()
	return nil
}

func (m *module) unlink(path string) error {
	parent, name, n, err := m.find(path, false)
	switch {
	case err != nil:
		return err
	case n == nil:
		return fsFail("ENOENT")
	case n.kind == folderNode:
		return fsFail("EISDIR")
	}
	if err := m.take(parent, name, n); err != nil {
		return err
	}
	m.openDisk().used -= int64(len(n.data))
	return nil
}

func (m *module) rmdir(path string, full bool) error {
	parent, name, n, err := m.find(path, false)
	switch {
	case err != nil:
		return err
	case n == nil:
		return fsFail("ENOENT")
	case n.kind != folderNode:
		return fsFail("ENOTDIR")
	case parent != nil && parent.children["tmp"] == n && parent.children["bundle"] != nil:
		return fsFail("EPERM") // the three folders at the top stay
	case !full && len(n.children) > 0:
		return fsFail("ENOTEMPTY")
	}
	if err := m.take(parent, name, n); err != nil {
		return err
	}
	m.openDisk().used -= n.weigh()
	return nil
}

func (m *module) rm(path string, recursive, force bool) error {
	parent, _, n, err := m.find(path, false)
	switch {
	case err != nil || n == nil:
		if err == nil && parent.readOnly {
			return fsFail("EPERM")
		}
		if e, ok := err.(*fsError); force && (!ok || e.code == "ENOENT") {
			return nil
		}
		return cmp.Or(err, fsFail("ENOENT"))
	case n.kind != folderNode:
		return m.unlink(path)
	}
	return m.rmdir(path, recursive)
}

func (m *module) rename(from, to string) error {
	oldParent, oldName, n, err := m.find(from, false)
	if err != nil {
		return err
	}
	if n == nil {
		return fsFail("ENOENT")
	}
	parent, name, at, err := m.find(to, false)
	switch {
	case err != nil:
		return err
	case at == n:
		return nil
	case parent == nil || parent.readOnly || oldParent == nil || oldParent.readOnly:
		return fsFail("EPERM")
	case at != nil && at.kind == folderNode && n.kind != folderNode:
		return fsFail("EISDIR")
	case at != nil && at.kind != folderNode && n.kind == folderNode:
		return fsFail("ENOTDIR")
	case at != nil && at.kind == folderNode && len(at.children) > 0:
		return fsFail("ENOTEMPTY")
	case n.kind == folderNode && n.contains(parent):
		return fsFail("EINVAL")
	}
	if n.readOnly {
		return fsFail("EPERM")
	}
	if at != nil {
		m.openDisk().used -= at.weigh()
		parent.drop(name)
	}
	if err := m.put(parent, name, n); err != nil {
		return err
	}
	return m.take(oldParent, oldName, n) // last, as in workerd: readdir shows it
}

func (n *inode) contains(other *inode) bool {
	if n == other {
		return true
	}
	for _, c := range n.children { // order-independent: whether any does
		if c.contains(other) {
			return true
		}
	}
	return false
}

// handle is an open file. As in the reference, what is open may be written, however it
// was opened. Loop-confined.
type handle struct {
	node     *inode
	standard bool // input, output or error
	output   int  // 1 or 2: what is written is logged
	at       int64
	readable bool
	appends  bool
	closed   bool
}

// fsHandles are open, read, write, stat and truncate on handles, which the
// prelude numbers.
func (m *module) fsHandles() []engine.Func {
	on := func(name string, fn func(h *handle, c goja.FunctionCall) (goja.Value, error)) engine.Func {
		return engine.Func{Name: name, Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			h, ok := m.Engine.Attached(c.Argument(0)).(*handle)
			var v goja.Value
			err := fsFail("EBADF")
			if ok && !h.closed {
				v, err = fn(h, c)
			}
			if err != nil {
				panic(m.fsThrown(err))
			}
			return node.OrUndefined(v)
		}}
	}
	return []engine.Func{
		{Name: "token", Fn: func(goja.FunctionCall) goja.Value { return m.VM.ToValue(m.token()) }},
		{Name: "open", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
			h, err := m.openFile(c.Argument(0).String(), c.Argument(1).ToInteger(), c.Argument(2))
			if err != nil {
				panic(m.fsThrown(err))
			}
			obj := m.VM.NewObject()
			m.Engine.Attach(obj, h)
			return obj
		}},
		{Name: "standard", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			obj := m.VM.NewObject()
			m.Engine.Attach(obj, &handle{node: &inode{mode: 0o666}, standard: true, output: int(c.Argument(0).ToInteger()), readable: true})
			return obj
		}},
		on("close", func(h *handle, _ goja.FunctionCall) (goja.Value, error) { h.closed = true; return nil, nil }),
		on("fstat", func(h *handle, _ goja.FunctionCall) (goja.Value, error) { return m.statOf(h.node), nil }),
		on("futimes", func(h *handle, c goja.FunctionCall) (goja.Value, error) {
			if h.standard {
				return nil, fsFail("EPERM")
			}
			h.node.touch(c.Argument(1), c.Argument(2))
			return nil, nil
		}),
		on("readAt", m.readAt),
		on("writeAt", m.writeAt),
		on("ftruncate", func(h *handle, c goja.FunctionCall) (goja.Value, error) {
			if h.standard {
				return nil, fsFail("EPERM")
			}
			return nil, m.resize(h.node, c.Argument(1).ToInteger())
		}),
	}
}

// token is six random letters and digits, for mkdtemp.
func (m *module) token() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	out := make([]byte, 6)
	m.Random(out)
	for i, b := range out {
		out[i] = letters[int(b)%len(letters)]
	}
	return string(out)
}

// The flags of open(2) on Linux.
const (
	openWrite  = 1
	openCreate = 64
	openExcl   = 128
	openTrunc  = 512
	openAppend = 1024
)

func (m *module) openFile(path string, flags int64, mode goja.Value) (*handle, error) {
	parent, name, n, err := m.find(path, true)
	if e, ok := err.(*fsError); ok && e.code == "ENOTDIR" && flags&openCreate == 0 {
		err = fsFail("ENOENT")
	}
	if err != nil {
		return nil, err
	}
	h := &handle{readable: flags&3 != openWrite, appends: flags&openAppend != 0}
	if n == nil {
		if flags&openCreate == 0 {
			return nil, fsFail("ENOENT")
		}
		n = m.openDisk().node(fileNode)
		if node.IsNumber(mode) {
			n.mode = mode.ToInteger() & 0o777
		}
		if err := m.put(parent, name, n); err != nil {
			return nil, err
		}
		h.node = n
		return h, nil
	}
	switch {
	case flags&openCreate != 0 && flags&openExcl != 0:
		return nil, fsFail("EEXIST")
	case n.kind == folderNode && flags&3 != 0:
		return nil, fsFail("EISDIR")
	case n.readOnly && flags&3 != 0:
		return nil, fsFail("EPERM")
	}
	if flags&openTrunc != 0 && flags&3 != 0 && n.kind == fileNode {
		if err := m.resize(n, 0); err != nil {
			return nil, err
		}
	}
	h.node = n
	return h, nil
}

// readAt is (handle, size, position): a position that is not a number is the
// handle's own, which then moves.
func (m *module) readAt(h *handle, c goja.FunctionCall) (goja.Value, error) {
	switch {
	case !h.readable:
		return nil, fsFail("EBADF")
	case h.node.kind == folderNode:
		return nil, fsFail("EISDIR")
	}
	size := int64(len(h.node.data))
	if v := c.Argument(1); node.IsNumber(v) {
		size = v.ToInteger()
	}
	at, own := h.at, true
	if v := c.Argument(2); node.IsNumber(v) && v.ToInteger() >= 0 {
		at, own = v.ToInteger(), false
	}
	data := append([]byte(nil), m.read(h.node, at, size)...)
	if own {
		h.at += int64(len(data))
	}
	return m.NewBuffer(data), nil
}

// writeAt is (handle, data, position).
func (m *module) writeAt(h *handle, c goja.FunctionCall) (goja.Value, error) {
	data, _ := m.Bytes(c.Argument(1))
	if h.standard {
		if h.output != 0 {
			m.Write(h.output, data)
		}
		return m.VM.ToValue(len(data)), nil
	}
	at, own := h.at, true
	if v := c.Argument(2); node.IsNumber(v) && v.ToInteger() >= 0 {
		at, own = v.ToInteger(), false
	}
	if h.appends {
		at = int64(len(h.node.data))
	}
	if err := m.write(h.node, at, data); err != nil {
		return nil, err
	}
	if own {
		h.at = at + int64(len(data))
	}
	return m.VM.ToValue(len(data)), nil
}
