package r2

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"os"
)

// readBlob reads an object's bytes and compares them with what was stored: the
// etag of one that was not uploaded in parts is its MD5.
func (b *Bucket) readBlob(r *row) ([]byte, error) {
	path := b.BlobPath(r.blob)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("r2: the bytes of %q: %w", r.Key, err)
	}
	if int64(len(data)) != r.Size {
		return nil, b.Damaged(path, fmt.Errorf("it has %d bytes, and %q should have %d", len(data), r.Key, r.Size))
	}
	if sum := md5.Sum(data); len(r.Etag) == 2*len(sum) && hex.EncodeToString(sum[:]) != r.Etag {
		return nil, b.Damaged(path, fmt.Errorf("its MD5 is not the etag of %q", r.Key))
	}
	return data, nil
}
