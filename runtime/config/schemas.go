package config

import "fmt"

// The schema of a wrangler file, restated from config-schema.json of wrangler
// 4.164. Parts that only matter to a deployment are checked for their outer
// type and carried along.

// bindingObject is the schema of one binding: its name, the "remote" switch
// that wrangler puts on everything with a cloud side, and fields.
func bindingObject(fields map[string]*schema) *schema {
	all := map[string]*schema{"binding!": bindingName, "remote": aBool}
	for name, s := range fields {
		all[name] = s
	}
	return object(all)
}

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

func workflowObject() *schema {
	all := map[string]*schema{"binding!": bindingName, "name!": aString, "class_name!": className, "script_name": scriptName, "remote": aBool}
	for name, s := range workflowFields {
		all[name] = s
	}
	return object(all)
}

var durableObjects = object(map[string]*schema{
	"bindings": listOf(object(map[string]*schema{
		"name!": bindingName, "class_name!": className, "script_name": scriptName, "environment": aString,
	})),
	"code_update_strategy": object(map[string]*schema{"mode!": oneOf("immediate", "deferred"), "max_delay": aNumber}),
})

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

var assetsObject = object(map[string]*schema{
	"directory":          aString,
	"binding":            bindingName,
	"html_handling":      oneOf("auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"),
	"not_found_handling": oneOf("single-page-application", "404-page", "none"),
	"base_path":          aString,
	"run_worker_first":   strings1.or(tBool),
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

var rateLimitObject = object(map[string]*schema{
	"name!": bindingName, "namespace_id!": aString,
	"simple!": object(map[string]*schema{
		"limit!": aNumber,
		"period!": (&schema{types: tNumber}).with(func(c *checker, path string, n *node) {
			if n.number(0) != 10 && n.number(0) != 60 {
				c.rep.errorAt(n, "", "%q must be 10 or 60 (seconds), but is %s", path, n.brief())
			}
		}),
	}),
})

var queuesObject = object(map[string]*schema{
	"producers": listOf(bindingObject(map[string]*schema{"queue": aString, "delivery_delay": aNumber})),
	"consumers": listOf(object(map[string]*schema{
		"queue!": aString, "type": aString, "max_batch_size": aNumber, "max_batch_timeout": aNumber,
		"max_retries": aNumber, "dead_letter_queue": aString, "max_concurrency": aNumber.or(tNull),
		"visibility_timeout_ms": aNumber, "retry_delay": aNumber,
	})),
})

var serviceObject = bindingObject(map[string]*schema{
	"service!": aString, "environment": aString, "entrypoint": aString, "props": anyObject, "dev": anyObject,
})

// varsObject accepts any JSON. TOML dates are the one thing JSON has not.
var varsObject = mapOf(anything.with(func(c *checker, path string, n *node) {
	if n.kind == kindDate {
		c.rep.errorAt(n, fmt.Sprintf("put it in quotes: %q", n.text), "%q is a TOML date, which a variable cannot hold", path)
	}
}))

// environmentFields are the members that both the top level and env.<name>
// may have.
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
	"assets":        assetsObject,
	"observability": observabilityObject,
	"access":        anyObject, "cache": anyObject, "compliance_region": oneOf("public", "fedramp_high"),
	"python_modules": object(map[string]*schema{"exclude": strings1}), "previews": anyObject,
	"migrations": listOf(migrationObject).or(tNull),
	"exports":    mapOf(exportObject).or(tNull),
	"define":     mapOf(aString), "vars": varsObject, "secrets": object(map[string]*schema{"required": strings1}),

	"durable_objects": durableObjects,
	"workflows":       listOf(workflowObject()),
	"kv_namespaces":   listOf(bindingObject(map[string]*schema{"id": aString, "preview_id": aString})),
	"r2_buckets": listOf(bindingObject(map[string]*schema{
		"bucket_name": aString, "preview_bucket_name": aString, "jurisdiction": aString, "local_dev": anyObject,
	})),
	"d1_databases": listOf(bindingObject(map[string]*schema{
		"database_name": aString, "database_id": aString, "jurisdiction": aString, "preview_database_id": aString,
		"migrations_table": aString, "migrations_dir": aString, "migrations_pattern": aString, "database_internal_env": aString,
	})),
	"queues":   queuesObject,
	"services": listOf(serviceObject),
	"ai":       bindingObject(map[string]*schema{"staging": aBool}),
	"browser":  bindingObject(nil), "analytics": bindingObject(nil), "images": bindingObject(nil),
	"media": bindingObject(nil), "stream": bindingObject(nil), "version_metadata": bindingObject(nil),
	"vectorize":            listOf(bindingObject(map[string]*schema{"index_name!": aString})),
	"ai_search":            listOf(bindingObject(map[string]*schema{"instance_name!": aString})),
	"ai_search_namespaces": listOf(bindingObject(map[string]*schema{"namespace!": aString})),
	"agent_memory":         listOf(bindingObject(map[string]*schema{"namespace!": aString})),
	"hyperdrive":           listOf(bindingObject(map[string]*schema{"id!": aString, "localConnectionString": aString})),
	"analytics_engine_datasets": listOf(bindingObject(map[string]*schema{
		"dataset": aString,
	})),
	"send_email": listOf(object(map[string]*schema{
		"name!": bindingName, "remote": aBool, "destination_address": aString,
		"allowed_destination_addresses": strings1, "allowed_sender_addresses": strings1,
	})),
	"mtls_certificates":     listOf(bindingObject(map[string]*schema{"certificate_id!": aString})),
	"dispatch_namespaces":   listOf(bindingObject(map[string]*schema{"namespace": aString, "outbound": anyObject})),
	"pipelines":             listOf(bindingObject(map[string]*schema{"stream": aString, "pipeline": aString})),
	"k2":                    listOf(bindingObject(map[string]*schema{"stream!": aString})),
	"secrets_store_secrets": listOf(bindingObject(map[string]*schema{"store_id!": aString, "secret_name!": aString})),
	"artifacts":             listOf(bindingObject(map[string]*schema{"namespace!": aString})),
	"flagship":              listOf(bindingObject(map[string]*schema{"app_id": aString})),
	"ratelimits":            listOf(rateLimitObject),
	"worker_loaders":        listOf(bindingObject(nil)),
	"vpc_services":          listOf(bindingObject(map[string]*schema{"service_id!": aString})),
	"vpc_networks":          listOf(bindingObject(map[string]*schema{"tunnel_id": aString, "network_id": aString})),
	"unsafe_hello_world":    listOf(bindingObject(map[string]*schema{"enable_timer": aBool})),
	"logfwdr":               object(map[string]*schema{"bindings": listOf(object(map[string]*schema{"name!": bindingName, "destination!": aString}))}),
	"unsafe": object(map[string]*schema{
		"bindings": listOf(unsafeBinding), "metadata": anyObject, "capnp": anyObject,
	}),
	"tail_consumers":           listOf(object(map[string]*schema{"service!": aString, "environment": aString})),
	"streaming_tail_consumers": listOf(object(map[string]*schema{"service!": aString})),
	"containers":               listOf(anyObject),
	"cloudchamber":             anyObject,
	"connect":                  listOf(anyObject),
}

// unsafeBinding takes any field beside its name and type.
var unsafeBinding = &schema{
	types: tObject, open: true,
	fields: map[string]field{"name": {bindingName, true}, "type": {aString, true}},
}

// fileOnlyFields are the members that only the top level of a file may have.
var fileOnlyFields = map[string]*schema{
	"$schema":                      aString,
	"env":                          mapOf(anyObject),
	"dev":                          devObject,
	"alias":                        mapOf(aString),
	"site":                         object(map[string]*schema{"bucket!": aString, "entry-point": aString, "include": strings1, "exclude": strings1}),
	"pages_build_output_dir":       aString,
	"send_metrics":                 aBool,
	"dependencies_instrumentation": anyObject,
	"wasm_modules":                 mapOf(aString), "text_blobs": mapOf(aString), "data_blobs": mapOf(aString),
	"keep_vars": aBool, "addresses": strings1,
	// A build tool (the Vite plugin) leaves these in the file that it generates.
	"configPath": anything, "userConfigPath": anything, "topLevelName": anything,
	"definedEnvironments": anything, "targetEnvironment": anything,
}

// environmentSchema and fileSchema are what a named environment and a whole
// file look like.
var (
	environmentSchema = object(environmentFields)
	fileSchema        = func() *schema {
		all := make(map[string]*schema, len(environmentFields)+len(fileOnlyFields))
		for name, s := range environmentFields {
			all[name] = s
		}
		for name, s := range fileOnlyFields {
			all[name] = s
		}
		return object(all)
	}()
)

// notInherited lists the members that a named environment does not take from
// the top level; everything else in environmentFields is inherited.
var notInherited = []string{
	"agent_memory", "ai", "ai_search", "ai_search_namespaces", "analytics", "analytics_engine_datasets", "artifacts",
	"browser", "cloudchamber", "connect", "containers", "d1_databases", "define", "dispatch_namespaces",
	"durable_objects", "flagship", "hyperdrive", "images", "k2", "kv_namespaces", "media", "mtls_certificates",
	"pipelines", "queues", "r2_buckets", "ratelimits", "secrets", "secrets_store_secrets", "send_email", "services",
	"stream", "streaming_tail_consumers", "tail_consumers", "unsafe", "unsafe_hello_world", "vars", "vectorize",
	"version_metadata", "vpc_networks", "vpc_services", "worker_loaders", "workflows",
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
