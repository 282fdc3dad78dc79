package config

import (
	"fmt"

	"minido.dev/minido/internal/lazyregexp"
)

// The schema of a wrangler file, restated from config-schema.json of wrangler
// 4.164; that of bindings is with their kinds (runtime/binding). Parts that only matter to a deployment are checked for their outer
// type and carried along.

// bindingName refuses names that env cannot carry.
var bindingName = (&schema{types: tString}).with(func(c *checker, path string, n *node) {
	if n.text == "" {
		c.rep.errorAt(n, "it becomes the property of env", "%q must not be empty", path)
	}
})

// className refuses class names that are no JavaScript identifiers: they
// become parts of file names.
var className = (&schema{types: tString}).with(func(c *checker, path string, n *node) {
	if err := ValidateClassName(n.text); err != nil {
		c.rep.errorAt(n, "", "%q: %s", path, nameProblem(err))
	}
})

// scriptName refuses names that wrangler would not deploy.
var scriptName = (&schema{types: tString}).with(func(c *checker, path string, n *node) {
	if err := ValidateScriptName(n.text); err != nil {
		c.rep.errorAt(n, suggestScriptName(n.text), "%q: %s", path, nameProblem(err))
	}
})

// bucketName refuses what wrangler refuses, with its text.
var bucketName = (&schema{types: tString}).with(func(c *checker, path string, n *node) {
	if !bucketNames.MatchString(n.text) {
		c.rep.errorAt(n, "", "%s=%q is invalid. Bucket names must begin and end with an alphanumeric character, only contain lowercase letters, numbers, and hyphens, and be between 3 and 63 characters long.", path, n.text)
	}
})

var bucketNames = lazyregexp.New(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

var port = (&schema{types: tNumber}).with(func(c *checker, path string, n *node) {
	if f := n.number(-1); f != float64(int(f)) || f < 0 || f > 65535 {
		c.rep.errorAt(n, "", "%q must be a port between 0 and 65535, but is %s", path, n.brief())
	}
})

var workflowFields = map[string]*schema{
	"limits":            object(map[string]*schema{"steps": aNumber}),
	"concurrency":       object(map[string]*schema{"limit": aNumber}),
	"schedules":         strings1.or(tString),
	"default_retention": object(map[string]*schema{"success_retention": aNumber.or(tString), "error_retention": aNumber.or(tString)}),
	"jurisdiction":      oneOf("eu", "fedramp", "us"),
}

var migrationObject = object(map[string]*schema{
	"tag!":                aString,
	"new_classes":         listOf(className),
	"new_sqlite_classes":  listOf(className),
	"deleted_classes":     listOf(className),
	"renamed_classes":     listOf(object(map[string]*schema{"from!": className, "to!": className})),
	"transferred_classes": listOf(object(map[string]*schema{"from!": className, "from_script!": scriptName, "to!": className})),
})

// exportObject is the union of the three kinds of export; decodeExports checks
// which fields go together.
var exportObject = func() *schema {
	all := map[string]*schema{
		"type!":          oneOf("durable-object", "worker", "workflow"),
		"state":          oneOf("created", "deleted", "renamed", "transferred", "expecting-transfer"),
		"storage":        oneOf("sqlite", "legacy-kv"),
		"container":      aString,
		"renamed_to":     className,
		"transferred_to": scriptName,
		"transfer_from":  scriptName,
		"cache":          object(map[string]*schema{"enabled!": aBool}),
		"name":           aString,
	}
	for name, s := range workflowFields {
		all[name] = s
	}
	return object(all)
}()

var ruleObject = object(map[string]*schema{
	"type!":       oneOf("ESModule", "CommonJS", "CompiledWasm", "Text", "Data", "PythonModule", "PythonRequirement"),
	"globs!":      strings1,
	"fallthrough": aBool,
})

var devObject = object(map[string]*schema{
	"ip": aString, "port": port, "inspector_port": port, "inspector_ip": aString,
	"local_protocol": oneOf("http", "https"), "upstream_protocol": oneOf("http", "https"),
	"host": aString, "enable_containers": aBool, "container_engine": aString.or(tObject), "generate_types": aBool,
})

var samplingRate = (&schema{types: tNumber}).with(func(c *checker, path string, n *node) {
	if f := n.number(-1); f < 0 || f > 1 {
		c.rep.errorAt(n, "", "%q must be between 0 and 1, but is %s", path, n.brief())
	}
})

var observabilityObject = func() *schema {
	part := func(extra map[string]*schema) *schema {
		all := map[string]*schema{"enabled": aBool, "head_sampling_rate": samplingRate, "persist": aBool, "destinations": strings1}
		for name, s := range extra {
			all[name] = s
		}
		return object(all)
	}
	return object(map[string]*schema{
		"enabled": aBool, "head_sampling_rate": samplingRate, "redact_query_string": aBool,
		"issues": object(map[string]*schema{"enabled": aBool}),
		"logs":   part(map[string]*schema{"invocation_logs": aBool}),
		"traces": part(nil),
	})
}()

// jsonValue accepts any JSON. TOML dates are the one thing JSON has not.
var jsonValue = anything.with(func(c *checker, path string, n *node) {
	if n.kind == kindDate {
		c.rep.errorAt(n, fmt.Sprintf("put it in quotes: %q", n.text), "%q is a TOML date, which a variable cannot hold", path)
	}
})

// environmentFields are the members that both the top level and env.<name>
// may have, beside those of the kinds of bindings.
var environmentFields = map[string]*schema{
	"name": scriptName, "account_id": aString, "main": aString, "base_dir": aString, "tsconfig": aString,
	"compatibility_date": compatibilityDate, "compatibility_flags": strings1,
	"find_additional_modules": aBool, "preserve_file_names": aBool, "no_bundle": aBool,
	"minify": aBool, "keep_names": aBool, "first_party_worker": aBool, "logpush": aBool, "upload_source_maps": aBool,
	"workers_dev": aBool, "preview_urls": aBool, "route": aString.or(tObject), "routes": listOf(aString.or(tObject)),
	"jsx_factory": aString, "jsx_fragment": aString,
	"rules": listOf(ruleObject),
	"build": object(map[string]*schema{"command": aString, "cwd": aString, "watch_dir": strings1.or(tString)}),
	"triggers": object(map[string]*schema{
		"crons": strings1, "events": listOf(anyObject),
	}).or(tNull),
	"limits":        object(map[string]*schema{"cpu_ms": aNumber, "subrequests": aNumber}),
	"placement":     anyObject,
	"observability": observabilityObject,
	"access":        anyObject, "cache": anyObject, "compliance_region": oneOf("public", "fedramp_high"),
	"python_modules": object(map[string]*schema{"exclude": strings1}), "previews": anyObject,
	"migrations": listOf(migrationObject).or(tNull),
	"exports":    mapOf(exportObject).or(tNull),
	"define":     mapOf(aString), "secrets": object(map[string]*schema{"required": strings1}),
	"cloudchamber": anyObject,
}

// fileOnlyFields are the members that only the top level of a file may have,
// beside those of the kinds of bindings.
var fileOnlyFields = map[string]*schema{
	"$schema":                      aString,
	"env":                          mapOf(anyObject),
	"dev":                          devObject,
	"alias":                        mapOf(aString),
	"pages_build_output_dir":       aString,
	"send_metrics":                 aBool,
	"dependencies_instrumentation": anyObject,
	"wasm_modules":                 mapOf(aString), "text_blobs": mapOf(aString), "data_blobs": mapOf(aString),
	"keep_vars": aBool, "addresses": strings1,
	// A build tool (the Vite plugin) leaves these in the file that it generates.
	"configPath": anything, "userConfigPath": anything, "topLevelName": anything,
	"definedEnvironments": anything, "targetEnvironment": anything,
}

// refusedKeys are keys of older wranglers that wrangler refuses, with its texts. Some are
// keys of the whole file only.
var refusedKeys = map[string]string{
	"legacy_env": `The "legacy_env" field is no longer supported, so please remove it from your configuration file.`,
	"node_compat": `Removed: "node_compat": The "node_compat" field is no longer supported as of Wrangler v4. Instead, use the ` + "`nodejs_compat`" +
		` compatibility flag.`,
}

// removedKeys explains keys that older wranglers knew.
var removedKeys = map[string]string{
	"legacy_env":   "service environments are gone; remove the key, each environment is a worker of its own",
	"node_compat":  `remove it and add "nodejs_compat" to compatibility_flags`,
	"usage_model":  "remove it; it has no effect any more",
	"zone_id":      `remove it; put it into "route"`,
	"type":         "remove it; it belonged to wrangler 1",
	"webpack":      "remove it; the worker is bundled by esbuild",
	"kv-namespace": `write "kv_namespaces"`,
	"bindings":     `durable objects go to "durable_objects": {"bindings": [...]}`,
}
