package gateway

import (
	"net/http"
	"strings"
)

// bytesOf are a text's, as a set.
func bytesOf(text string) (set [256]bool) {
	for i := range len(text) {
		set[text[i]] = true
	}
	return set
}

// inPath and inQuery are the bytes that workerd's HTTP server takes in the two parts of a
// request's target, beside those from 0x7F on; it answers 400 to others. plain are those
// that the URL standard never encodes.
var (
	inPath  = bytesOf("!\"$%&'()*+,-./0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_abcdefghijklmnopqrstuvwxyz{|}~")
	inQuery = bytesOf("!$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~")
	plain   = bytesOf("!$&()*+,-/0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~")
)

// invalidTarget is workerd's answer to a target with other bytes.
const invalidTarget = "invalid URI"

// validTarget reports whether a target that begins with a slash has only such bytes.
func validTarget(target string) bool {
	target, _, _ = strings.Cut(target, "#")
	path, query, _ := strings.Cut(target, "?")
	return onlyOf(path, &inPath) && onlyOf(query, &inQuery)
}

func onlyOf(part string, allowed *[256]bool) bool {
	for i := range len(part) {
		if part[i] < 0x7f && !allowed[part[i]] {
			return false
		}
	}
	return true
}

// written is a URL as a worker sees it: as the URL standard writes it, since miniflare
// hands it on so (workers/core/entry.worker.ts). It has no fragment.
func (g *Gateway) written(origin, target string) string {
	target, _, _ = strings.Cut(target, "#")
	usual := true
	for i := range len(target) {
		if !plain[target[i]] && (target[i] != '.' || i > 0 && target[i-1] == '/') {
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
