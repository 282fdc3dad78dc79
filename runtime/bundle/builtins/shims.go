package builtins

import "embed"

//go:embed shims
var shimFiles embed.FS

// Shims are npm packages that wrangler replaces by modules over the platform when
// Node.js compatibility is on (unenv's npmShims), by specifier, for
// bundle.Options.Virtual. A package that is installed is replaced, too. debug is not among
// them: wrangler leaves it to the installed one. They are CommonJS, so that
// require() and import both give what is exported.
func Shims() map[string]string {
	shims := map[string]string{}
	for spec, file := range map[string]string{ // order-independent: it fills a map
		"cross-fetch": "fetch", "node-fetch": "node-fetch", "node-fetch-native": "node-fetch", "inherits": "inherits", "fsevents": "fsevents",
		"whatwg-url": "whatwg-url", "cross-fetch/polyfill": "empty", "node-fetch-native/polyfill": "empty", "isomorphic-fetch": "empty",
	} {
		text, err := shimFiles.ReadFile("shims/" + file + ".js")
		if err != nil {
			panic("builtins: " + err.Error()) // it is compiled in
		}
		shims[spec] = string(text)
	}
	return shims
}
