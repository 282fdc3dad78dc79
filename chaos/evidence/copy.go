// Package evidence reads the files of a server, running or dead, without ever opening
// them through SQLite: it copies a database and reads the copy.
package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// walHeaderSize is the length of a WAL file's header. It holds two salts, and
// SQLite changes them each time it starts the log from its beginning again
// (sqlite.org/fileformat2.html, section 4.1).
const walHeaderSize = 32

// copyTries bounds how often a copy is begun again because the log was restarted
// while it was made.
const copyTries = 20

// ErrUnsteady is returned, wrapped, when a live database was checkpointed during
// each of several attempts to copy it.
var ErrUnsteady = errors.New("the database changed under every copy")

// Copy copies the database at src, with its log, to dst. The server may be
// running: the copy is a state that was committed, because
//
//   - while the log is not restarted, every page that a checkpoint moves into
//     the database is also in the log, so that a torn page of the database file
//     is covered by the log's;
//   - a restarted log has another header, and then the copy is made again;
//   - frames of a transaction that was not committed when the log was read have
//     no commit mark and are ignored when the copy is opened.
//
// It opens the files for reading only. In the process that holds the database
// open this would drop its locks: Copy is for other processes' databases.
//
// # Errors
//
// fs.ErrNotExist, wrapped, if there is no such database; ErrUnsteady.
func Copy(src, dst string) error {
	for range copyTries {
		before, err := stateOf(src)
		if err != nil {
			return fmt.Errorf("evidence: copy: %w", err)
		}
		if err := copyFile(src, dst); err != nil {
			return fmt.Errorf("evidence: copy: %w", err)
		}
		if err := copyFile(src+"-wal", dst+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("evidence: copy: %w", err)
		}
		after, err := stateOf(src)
		if err != nil {
			return fmt.Errorf("evidence: copy: %w", err)
		}
		if before == after {
			return nil
		}
		if err := os.Remove(dst + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("evidence: copy: %w", err)
		}
	}
	return fmt.Errorf("evidence: copy %s: %w (%d attempts)", src, ErrUnsteady, copyTries)
}

// logState is what must not differ between the two ends of a copy.
type logState struct {
	header string // of the log; "" without one
	size   int64  // of the database, and its time of change, if there is no log
	mtime  int64
}

func stateOf(src string) (logState, error) {
	info, err := os.Stat(src)
	if err != nil {
		return logState{}, err
	}
	header, err := walHeader(src)
	if err != nil {
		return logState{}, err
	}
	if header != "" {
		return logState{header: header}, nil
	}
	return logState{size: info.Size(), mtime: info.ModTime().UnixNano()}, nil
}

func walHeader(src string) (header string, err error) {
	f, err := os.Open(src + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, walHeaderSize)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a log without its header holds nothing
	}
	return string(b[:n]), err
}

func copyFile(src, dst string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// Databases lists the files of one object below its namespace's folder: its
// own database first, then its facets' in order of their number. The list is
// empty if the object has never stored anything.
func Databases(namespaceDir, id string) ([]string, error) {
	entries, err := os.ReadDir(namespaceDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("evidence: list: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), id+".") && strings.HasSuffix(e.Name(), ".sqlite") {
			out = append(out, filepath.Join(namespaceDir, e.Name()))
		}
	}
	// The object's own name is the shortest; of facets, "10" follows "9".
	sort.Slice(out, func(i, j int) bool {
		if len(out[i]) != len(out[j]) {
			return len(out[i]) < len(out[j])
		}
		return out[i] < out[j]
	})
	return out, nil
}

// Stamp changes whenever one of the databases does: it tells a poller that
// there is nothing new to read.
func Stamp(databases []string) string {
	var b strings.Builder
	for _, path := range databases {
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(path + suffix); err == nil {
				fmt.Fprintf(&b, "%s%s %d %d\n", filepath.Base(path), suffix, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return b.String()
}

// Preserve copies everything below dir (databases, logs, shared memory) to dst,
// byte for byte. It is for a persist directory whose server is dead; one that never
// came to store anything has none, and dst stays empty.
func Preserve(dir, dst string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return os.MkdirAll(dst, 0o700)
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dst, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case d.Type().IsRegular():
			return copyFile(path, to)
		}
		return nil // sockets and links are no evidence
	})
	if err != nil {
		return fmt.Errorf("evidence: preserve %s: %w", dir, err)
	}
	return nil
}
