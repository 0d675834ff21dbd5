# The runtime itself, with the classes that ask. Embedded files stand beside this one.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .asking),
    (name = "disk", disk = (path = "disk", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const asking :Workerd.Worker = (
  modules = [
    (name = "probes/worker.mjs", esModule = embed "worker.mjs"),
    (name = "probes/box.mjs", esModule = embed "box.mjs"),
    (name = "probes/rpc.mjs", esModule = embed "rpc.mjs"),
    (name = "probes/sockets.mjs", esModule = embed "sockets.mjs"),
    (name = "probes/sql.mjs", esModule = embed "sql.mjs"),
    (name = "probes/storage.mjs", esModule = embed "storage.mjs"),
    (name = "host/describe.mjs", esModule = embed "../host/describe.mjs"),
  ],
  # The date at which the facts of the Python runtime were taken down.
  compatibilityDate = "2025-09-01",
  durableObjectNamespaces = [(className = "Box", uniqueKey = "probes", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [
    (name = "BOX", durableObjectNamespace = "Box"),
    (name = "SERVICE", service = (name = "main", entrypoint = "Service")),
  ],
);
