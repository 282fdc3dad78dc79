package gateway

import (
	"net/http"
	"strings"
)

// inPath and inQuery are the bytes that workerd's HTTP server takes in the two parts of a
// request's target, beside those from 0x7F on; it answers 400 to others.
const (
	inPath  = "!\"$%&'()*+,-./0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_abcdefghijklmnopqrstuvwxyz{|}~"
	inQuery = "!$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
)

// invalidTarget is workerd's answer to a target with other bytes.
const invalidTarget = "invalid URI"

// validTarget reports whether a target that begins with a slash has only such bytes.
func validTarget(target string) bool {
	target, _, _ = strings.Cut(target, "#")
	path, query, _ := strings.Cut(target, "?")
	return onlyOf(path, inPath) && onlyOf(query, inQuery)
}

func onlyOf(part, allowed string) bool {
	for i := range len(part) {
		if part[i] < 0x7f && strings.IndexByte(allowed, part[i]) < 0 {
			return false
		}
	}
	return true
}

// plain are the bytes that the URL standard never encodes.
const plain = "!$&()*+,-/0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"

// written is a URL as a worker sees it: as the URL standard writes it, since miniflare
// hands it on so (workers/core/entry.worker.ts). It has no fragment.
func (g *Gateway) written(origin, target string) string {
	target, _, _ = strings.Cut(target, "#")
	usual := true
	for i := range len(target) {
		if strings.IndexByte(plain, target[i]) < 0 && (target[i] != '.' || i > 0 && target[i-1] == '/') {
			usual = false
			break
		}
	}
	if usual || g.opts.Href == nil {
		return origin + target
	}
	href, err := g.opts.Href(origin + target)
	if err != nil {
		return origin + target
	}
	return href
}

// target is the path and the query of a request's URL.
func target(r *http.Request) string {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") {
		if target = r.URL.RequestURI(); !strings.HasPrefix(target, "/") {
			target = "/"
		}
	}
	return target
}
