package r2

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
)

// readObject reads an object's bytes: of its file, or of those of its parts.
func (b *Bucket) readObject(r *row) ([]byte, error) {
	if r.blob != "" {
		sum := r.Etag
		if len(sum) != 2*md5.Size {
			sum = ""
		}
		return b.readBlob(r.Key, r.blob, r.Size, sum)
	}
	parts, err := b.parts("object_key = ?", r.Key)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, r.Size)
	for _, p := range parts {
		part, err := b.readBlob(r.Key, p.blob, p.size, p.md5)
		if err != nil {
			return nil, err
		}
		data = append(data, part...)
	}
	if int64(len(data)) != r.Size {
		return nil, b.Damaged(b.Path(), fmt.Errorf("the parts of %q have %d bytes, and it should have %d", r.Key, len(data), r.Size))
	}
	return data, nil
}

// readBlob reads the bytes of an object or a part and compares them with what was
// stored: the size, and the MD5 in hex if it is known.
func (b *Bucket) readBlob(key, blob string, size int64, md5Hex string) ([]byte, error) {
	path := b.BlobPath(blob)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("r2: the bytes of %q: %w", key, err)
	}
	if int64(len(data)) != size {
		return nil, b.Damaged(path, fmt.Errorf("it has %d bytes, and %q should have %d", len(data), key, size))
	}
	if sum := md5.Sum(data); md5Hex != "" && hex.EncodeToString(sum[:]) != md5Hex {
		return nil, b.Damaged(path, fmt.Errorf("its MD5 is not the etag of %q", key))
	}
	return data, nil
}
