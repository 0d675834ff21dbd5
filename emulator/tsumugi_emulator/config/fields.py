"""The names wrangler knows and how they behave in environments. Tables only, no rules.

Facts from wrangler's configuration reference; a field that is not listed here is reported as
unexpected, so the tables hold what is not emulated as well.
"""

from __future__ import annotations

from typing import NamedTuple

TOP_LEVEL_ONLY = frozenset(
    {
        "$schema", "addresses", "alias", "data_blobs", "dependencies_instrumentation", "dev",
        "env", "keep_vars", "pages_build_output_dir", "send_metrics", "site", "text_blobs",
        "wasm_modules",
    }
)  # fmt: skip

INHERITED = frozenset(
    {
        "access", "account_id", "assets", "base_dir", "build", "cache", "compatibility_date",
        "compatibility_flags", "compliance_region", "exports", "find_additional_modules",
        "first_party_worker", "jsx_factory", "jsx_fragment", "keep_names", "limits", "logfwdr",
        "logpush", "main", "migrations", "minify", "name", "no_bundle", "observability",
        "placement", "preserve_file_names", "preview_urls", "previews", "python_modules",
        "route", "routes", "rules", "triggers", "tsconfig", "upload_source_maps", "workers_dev",
    }
)  # fmt: skip

NOT_INHERITED = frozenset(
    {
        "agent_memory", "ai", "ai_search", "ai_search_namespaces", "analytics_engine_datasets",
        "artifacts", "browser", "cloudchamber", "connect", "containers", "d1_databases", "define",
        "dispatch_namespaces", "durable_objects", "flagship", "hyperdrive", "images",
        "kv_namespaces", "media", "mtls_certificates", "pipelines", "queues", "r2_buckets",
        "ratelimits", "secrets", "secrets_store_secrets", "send_email", "services", "stream",
        "streaming_tail_consumers", "tail_consumers", "unsafe", "unsafe_hello_world", "vars",
        "vectorize", "version_metadata", "vpc_networks", "vpc_services", "websearch",
        "worker_loaders", "workflows",
    }
)  # fmt: skip

ENVIRONMENT = INHERITED | NOT_INHERITED
TOP_LEVEL = ENVIRONMENT | TOP_LEVEL_ONLY

#: Fields wrangler once read; each with what to do now.
REMOVED = {
    "legacy_env": (
        'The "legacy_env" field is no longer supported, so please remove it from your '
        "configuration file."
    ),
    "node_compat": (
        'The "node_compat" field is no longer supported as of Wrangler v4. Instead, use the '
        "`nodejs_compat` compatibility flag."
    ),
}

DEV = frozenset(
    {
        "container_engine", "enable_containers", "generate_types", "host", "inspector_ip",
        "inspector_port", "ip", "local_protocol", "port", "upstream_protocol",
    }
)  # fmt: skip


class BindingKind(NamedTuple):
    #: Wrangler's name for the type.
    label: str
    #: Where the entries are: a list ("[]"), one object ("{}") or the keys of a mapping ("keys").
    shape: str = "[]"
    #: The key inside an entry that names the binding.
    key: str = "binding"
    #: A field inside the block that holds the list, if it is not the block itself.
    inner: str | None = None


#: In wrangler's order, which is also the order of its table of bindings.
BINDING_KINDS: dict[str, BindingKind] = {
    "data_blobs": BindingKind("Data Blob", "keys"),
    "durable_objects": BindingKind("Durable Object", key="name", inner="bindings"),
    "workflows": BindingKind("Workflow"),
    "kv_namespaces": BindingKind("KV Namespace"),
    "send_email": BindingKind("Send Email", key="name"),
    "queues": BindingKind("Queue", inner="producers"),
    "d1_databases": BindingKind("D1 Database"),
    "vectorize": BindingKind("Vectorize Index"),
    "ai_search_namespaces": BindingKind("AI Search Namespace"),
    "ai_search": BindingKind("AI Search Instance"),
    "websearch": BindingKind("Web Search", "{}"),
    "agent_memory": BindingKind("Agent Memory"),
    "hyperdrive": BindingKind("Hyperdrive Config"),
    "r2_buckets": BindingKind("R2 Bucket"),
    "logfwdr": BindingKind("logfwdr", key="name", inner="bindings"),
    "services": BindingKind("Worker"),
    "analytics_engine_datasets": BindingKind("Analytics Engine Dataset"),
    "text_blobs": BindingKind("Text Blob", "keys"),
    "browser": BindingKind("Browser Run", "{}"),
    "ai": BindingKind("AI", "{}"),
    "images": BindingKind("Images", "{}"),
    "stream": BindingKind("Stream", "{}"),
    "media": BindingKind("Media", "{}"),
    "version_metadata": BindingKind("Worker Version Metadata", "{}"),
    "unsafe": BindingKind("Unsafe Metadata", key="name", inner="bindings"),
    "vars": BindingKind("Environment Variable", "keys"),
    "wasm_modules": BindingKind("Wasm Module", "keys"),
    "dispatch_namespaces": BindingKind("Dispatch Namespace"),
    "mtls_certificates": BindingKind("mTLS Certificate"),
    "pipelines": BindingKind("Pipeline"),
    "secrets_store_secrets": BindingKind("Secrets Store Secret"),
    "artifacts": BindingKind("Artifacts"),
    "ratelimits": BindingKind("Rate Limit", key="name"),
    "assets": BindingKind("Assets", "{}"),
    "unsafe_hello_world": BindingKind("Hello World"),
    "flagship": BindingKind("Flagship"),
    "worker_loaders": BindingKind("Worker Loader"),
    "vpc_services": BindingKind("VPC Service"),
    "vpc_networks": BindingKind("VPC Network"),
}

#: The kinds whose bindings work here; the others are listed once and raise when used.
EMULATED_BINDINGS = frozenset(
    {
        "analytics_engine_datasets", "assets", "d1_databases", "durable_objects",
        "kv_namespaces", "queues", "r2_buckets", "ratelimits", "services", "vars",
        "version_metadata",
    }
)  # fmt: skip
