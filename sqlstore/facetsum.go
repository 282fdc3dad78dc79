package sqlstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The format of an index of facets is workerd's, and has no checksum: a changed
// byte would give a facet's files to another name. A file beside it, <id>.facets-sum,
// has the length and the checksum of what minido has written of it. It is not
// synced: an older one speaks of a beginning of the index, and one that is torn,
// or of another program's index, of nothing.
const facetSumBytes = 16 // length, checksum of that much, checksum of these 12 bytes

// noteSum writes the file for an index whose good part is b.
func (x *FacetIndex) noteSum(b []byte) error {
	le := binary.LittleEndian
	sum := le.AppendUint32(le.AppendUint64(nil, uint64(len(b))), crc32.Checksum(b, castagnoli))
	sum = le.AppendUint32(sum, crc32.Checksum(sum, castagnoli))
	f, err := x.disk.OpenFile(x.path+"-sum", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(sum, 0)
	return errors.Join(err, f.Close())
}

// forgetSum removes the file: it may have the checksum of what was taken back.
func (x *FacetIndex) forgetSum() error {
	if err := x.disk.Remove(x.path + "-sum"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// checkSum compares what an index file holds with what was written of it.
func checkSum(path string, b []byte) error {
	sum, err := os.ReadFile(path + "-sum")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if len(sum) != facetSumBytes || le.Uint32(sum[12:]) != crc32.Checksum(sum[:12], castagnoli) {
		return nil
	}
	n := le.Uint64(sum)
	if n > uint64(len(b)) || crc32.Checksum(b[:n], castagnoli) != le.Uint32(sum[8:]) {
		return facetDamage(path, fmt.Errorf("its first %d bytes are not those that were written", n))
	}
	return nil
}

// checkNumbers refuses an index that has lost entries: the files of facets have
// numbers that it does not know, and a new facet would get one of them.
func (x *FacetIndex) checkNumbers() error {
	base := strings.TrimSuffix(x.path, ".facets")
	files, err := filepath.Glob(base + ".*.sqlite")
	if err != nil {
		return err
	}
	for _, f := range files {
		number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(f, base+"."), ".sqlite"))
		if err == nil && number > len(x.facets) {
			return facetDamage(x.path, fmt.Errorf("it ends after %d facets, and %s is there", len(x.facets), f))
		}
	}
	return nil
}

func facetDamage(path string, err error) error {
	return &CorruptError{Path: path, Err: err, Way: "restore it from a copy; without it nobody knows which facet a database belongs to"}
}
