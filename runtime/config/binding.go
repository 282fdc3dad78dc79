package config

import (
	"encoding/json"
	"fmt"
)

// BindingKind says what a binding on env is, in the words of Cloudflare's
// upload API ("kv_namespace", "durable_object_namespace").
type BindingKind string

// The kinds of binding that wrangler 4.164 knows. Plain variables and secrets
// are not bindings here: see Var.
const (
	KindAgentMemory        BindingKind = "agent_memory"
	KindAI                 BindingKind = "ai"
	KindAISearch           BindingKind = "ai_search"
	KindAISearchNamespace  BindingKind = "ai_search_namespace"
	KindAnalytics          BindingKind = "analytics"
	KindAnalyticsEngine    BindingKind = "analytics_engine"
	KindArtifacts          BindingKind = "artifacts"
	KindAssets             BindingKind = "assets"
	KindBrowser            BindingKind = "browser"
	KindD1                 BindingKind = "d1"
	KindDataBlob           BindingKind = "data_blob"
	KindDispatchNamespace  BindingKind = "dispatch_namespace"
	KindDurableObject      BindingKind = "durable_object_namespace"
	KindFlagship           BindingKind = "flagship"
	KindHelloWorld         BindingKind = "unsafe_hello_world"
	KindHyperdrive         BindingKind = "hyperdrive"
	KindImages             BindingKind = "images"
	KindK2                 BindingKind = "k2"
	KindKVNamespace        BindingKind = "kv_namespace"
	KindLogfwdr            BindingKind = "logfwdr"
	KindMedia              BindingKind = "media"
	KindMTLSCertificate    BindingKind = "mtls_certificate"
	KindPipeline           BindingKind = "pipeline"
	KindQueue              BindingKind = "queue"
	KindR2Bucket           BindingKind = "r2_bucket"
	KindRateLimit          BindingKind = "ratelimit"
	KindSecretsStoreSecret BindingKind = "secrets_store_secret"
	KindSendEmail          BindingKind = "send_email"
	KindService            BindingKind = "service"
	KindStream             BindingKind = "stream"
	KindTextBlob           BindingKind = "text_blob"
	KindUnsafe             BindingKind = "unsafe"
	KindVectorize          BindingKind = "vectorize"
	KindVersionMetadata    BindingKind = "version_metadata"
	KindVPCNetwork         BindingKind = "vpc_network"
	KindVPCService         BindingKind = "vpc_service"
	KindWasmModule         BindingKind = "wasm_module"
	KindWorkerLoader       BindingKind = "worker_loader"
	KindWorkflow           BindingKind = "workflow"
)

// Title is the kind as people write it: "KV namespace". For an unknown kind it
// is the kind itself.
func (k BindingKind) Title() string {
	for _, s := range bindingSpecs {
		if s.kind == k {
			return s.title
		}
	}
	return string(k)
}

// Binding is one named thing that config puts on env. Immutable after Load.
type Binding struct {
	Kind BindingKind
	// Name is the property of env.
	Name string
	// Section is where the file has it, without the environment:
	// "kv_namespaces[0]", "ai", "queues.producers[1]".
	Section string
	// Where points at the name in the file, or at the entry when it has no
	// name of its own.
	Where Position
	// Params are all the fields of the entry, the name included: nil, bool,
	// float64, string, []any and map[string]any. Treat them as read-only.
	Params map[string]any
	// Props is the member props of a service binding, as JSON with its members in
	// the order of the file; nil if there is none.
	Props json.RawMessage
}

// Param returns a string parameter, "" if it is missing or not a string.
func (b Binding) Param(name string) string {
	s, _ := b.Params[name].(string)
	return s
}

// Attachment is something that config attaches to the worker without putting
// it on env: a queue consumer, a tail worker, a container. Immutable after Load.
type Attachment struct {
	// Section is where the file has it, without the environment:
	// "queues.consumers[0]", "containers[0]".
	Section string
	// Title is what it is, for people: "queue consumer".
	Title string
	// Where points at the entry.
	Where Position
	// Params are the fields of the entry, as in Binding. Read-only.
	Params map[string]any
}

// bindingSpec says where the file has the bindings of one kind.
type bindingSpec struct {
	kind  BindingKind
	title string
	// at is the path of the section: "queues", "producers".
	at []string
	// name is the member that names the binding.
	name string
	// shape is how the section lists its bindings.
	shape bindingShape
}

type bindingShape uint8

const (
	shapeList   bindingShape = iota // an array of objects
	shapeSingle                     // one object
	shapeMap                        // name → file
)

// bindingSpecs holds every kind, in the order in which start-up lists them.
// Facts from wrangler's config-schema.json.
var bindingSpecs = []bindingSpec{
	{KindDurableObject, "Durable Object namespace", []string{"durable_objects", "bindings"}, "name", shapeList},
	{KindWorkflow, "Workflow", []string{"workflows"}, "binding", shapeList},
	{KindKVNamespace, "KV namespace", []string{"kv_namespaces"}, "binding", shapeList},
	{KindR2Bucket, "R2 bucket", []string{"r2_buckets"}, "binding", shapeList},
	{KindD1, "D1 database", []string{"d1_databases"}, "binding", shapeList},
	{KindQueue, "queue", []string{"queues", "producers"}, "binding", shapeList},
	{KindService, "service", []string{"services"}, "binding", shapeList},
	{KindAssets, "assets", []string{"assets"}, "binding", shapeSingle},
	{KindAI, "Workers AI", []string{"ai"}, "binding", shapeSingle},
	{KindAISearch, "AI Search instance", []string{"ai_search"}, "binding", shapeList},
	{KindAISearchNamespace, "AI Search namespace", []string{"ai_search_namespaces"}, "binding", shapeList},
	{KindAgentMemory, "Agent Memory", []string{"agent_memory"}, "binding", shapeList},
	{KindVectorize, "Vectorize index", []string{"vectorize"}, "binding", shapeList},
	{KindBrowser, "browser", []string{"browser"}, "binding", shapeSingle},
	{KindHyperdrive, "Hyperdrive", []string{"hyperdrive"}, "binding", shapeList},
	{KindAnalytics, "Analytics SQL", []string{"analytics"}, "binding", shapeSingle},
	{KindAnalyticsEngine, "Analytics Engine dataset", []string{"analytics_engine_datasets"}, "binding", shapeList},
	{KindSendEmail, "send email", []string{"send_email"}, "name", shapeList},
	{KindMTLSCertificate, "mTLS certificate", []string{"mtls_certificates"}, "binding", shapeList},
	{KindDispatchNamespace, "dispatch namespace", []string{"dispatch_namespaces"}, "binding", shapeList},
	{KindVersionMetadata, "version metadata", []string{"version_metadata"}, "binding", shapeSingle},
	{KindImages, "Images", []string{"images"}, "binding", shapeSingle},
	{KindMedia, "Media Transformations", []string{"media"}, "binding", shapeSingle},
	{KindStream, "Stream", []string{"stream"}, "binding", shapeSingle},
	{KindSecretsStoreSecret, "Secrets Store secret", []string{"secrets_store_secrets"}, "binding", shapeList},
	{KindPipeline, "pipeline", []string{"pipelines"}, "binding", shapeList},
	{KindK2, "K2 stream", []string{"k2"}, "binding", shapeList},
	{KindArtifacts, "Artifacts", []string{"artifacts"}, "binding", shapeList},
	{KindFlagship, "Flagship", []string{"flagship"}, "binding", shapeList},
	{KindRateLimit, "rate limit", []string{"ratelimits"}, "name", shapeList},
	{KindWorkerLoader, "Worker Loader", []string{"worker_loaders"}, "binding", shapeList},
	{KindVPCService, "VPC service", []string{"vpc_services"}, "binding", shapeList},
	{KindVPCNetwork, "VPC network", []string{"vpc_networks"}, "binding", shapeList},
	{KindLogfwdr, "logfwdr", []string{"logfwdr", "bindings"}, "name", shapeList},
	{KindWasmModule, "Wasm module", []string{"wasm_modules"}, "", shapeMap},
	{KindTextBlob, "text blob", []string{"text_blobs"}, "", shapeMap},
	{KindDataBlob, "data blob", []string{"data_blobs"}, "", shapeMap},
	{KindHelloWorld, "hello world", []string{"unsafe_hello_world"}, "binding", shapeList},
	{KindUnsafe, "unsafe", []string{"unsafe", "bindings"}, "name", shapeList},
}

// attachmentSpecs lists the array sections whose entries are not on env.
var attachmentSpecs = []struct {
	title string
	at    []string
}{
	{"queue consumer", []string{"queues", "consumers"}},
	{"tail consumer", []string{"tail_consumers"}},
	{"streaming tail consumer", []string{"streaming_tail_consumers"}},
	{"container", []string{"containers"}},
	{"connect handler", []string{"connect"}},
	{"event trigger", []string{"triggers", "events"}},
}

// decodeBindings lists what the selected environment puts on env, and what it
// attaches beside it.
func decodeBindings(sel *selection) ([]Binding, []Attachment) {
	var bindings []Binding
	for _, spec := range bindingSpecs {
		bindings = append(bindings, spec.decode(sel)...)
	}
	var attachments []Attachment
	for _, spec := range attachmentSpecs {
		list := sel.field(spec.at[0])
		section := spec.at[0]
		for _, part := range spec.at[1:] {
			list, section = list.get(part), section+"."+part
		}
		for i, entry := range list.elements() {
			attachments = append(attachments, Attachment{
				Section: fmt.Sprintf("%s[%d]", section, i), Title: spec.title,
				Where: entry.where(), Params: params(entry),
			})
		}
	}
	if site := sel.field("site"); site != nil {
		attachments = append(attachments, Attachment{
			Section: "site", Title: "Workers Site", Where: site.where(), Params: params(site),
		})
	}
	return bindings, attachments
}

func (spec bindingSpec) decode(sel *selection) []Binding {
	section, n := spec.at[0], sel.field(spec.at[0])
	for _, part := range spec.at[1:] {
		n, section = n.get(part), section+"."+part
	}
	var out []Binding
	add := func(section string, entry, name *node) {
		if name.str() != "" {
			b := Binding{Kind: spec.kind, Name: name.text, Section: section, Where: name.where(), Params: params(entry)}
			if props := entry.get("props"); spec.kind == KindService && props != nil {
				b.Props = props.json()
			}
			out = append(out, b)
		}
	}
	switch spec.shape {
	case shapeList:
		for i, entry := range n.elements() {
			add(fmt.Sprintf("%s[%d]", section, i), entry, entry.get(spec.name))
		}
	case shapeSingle:
		add(section, n, n.get(spec.name))
	case shapeMap:
		for _, m := range n.entries() {
			out = append(out, Binding{
				Kind: spec.kind, Name: m.key, Section: section + "." + m.key, Where: m.where(),
				Params: map[string]any{"path": sel.abs(m.str())},
			})
		}
	}
	return out
}

// params returns the members of an entry as plain values; empty for anything
// but an object.
func params(entry *node) map[string]any {
	if entry == nil || entry.kind != kindObject {
		return map[string]any{}
	}
	return entry.value().(map[string]any)
}

// checkUniqueNames reports two things on env with one name. wrangler refuses
// them, because the worker could see only one.
func checkUniqueNames(rep *report, sel *selection, bindings []Binding) {
	taken := map[string]Binding{}
	claim := func(b Binding) {
		first, dup := taken[b.Name]
		if !dup {
			taken[b.Name] = b
			return
		}
		rep.add(sel.at(b.Where, SeverityError,
			fmt.Sprintf("env.%s is taken: %s has it as %s", b.Name, first.Where, first.Kind.Title()),
			"give the two bindings different names"))
	}
	for _, m := range sel.field("vars").entries() {
		claim(Binding{Kind: "environment variable", Name: m.key, Where: m.where()})
	}
	for _, b := range bindings {
		claim(b)
	}
	for _, s := range sel.field("secrets").get("required").elements() {
		if s.kind == kindString {
			claim(Binding{Kind: "secret", Name: s.text, Where: s.where()})
		}
	}
}
