#!/bin/sh
# Makes the golden files again: ./generate.sh <path to a workerd binary>
# Needs python3 and curl; listens on loopback only.
set -eu
workerd=$1
port=${PORT:-18977}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/worker.js" "$work/worker.js"
{
  cat "$here/../cases.js" "$here/../failures.js" "$here/../reads.js"
  echo 'export { CASES, FAILURES, READS };'
} > "$work/lists.js"
for date in 2024-01-01 2026-08-01; do
  rm -rf "$work/data"
  mkdir "$work/data"
  cat > "$work/config.capnp" <<CAPNP
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "$work/data", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:$port", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "lists.js", esModule = embed "lists.js"),
  ],
  compatibilityDate = "$date",
  compatibilityFlags = [$( [ "$date" = 2024-01-01 ] && echo '"rpc"' )],
  durableObjectNamespaces = [(className = "Store", uniqueKey = "k", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "STORE", durableObjectNamespace = "Store")],
);
CAPNP
  (cd "$work" && exec "$workerd" serve config.capnp) > "$work/log" 2>&1 &
  pid=$!
  for _ in $(seq 1 50); do
    curl -sf "http://127.0.0.1:$port/" -o "$work/report.json" && break
    sleep 0.2
  done
  kill "$pid"
  wait "$pid" 2>/dev/null || true
  if [ ! -s "$work/report.json" ]; then cat "$work/log"; exit 1; fi
  WORKERD_VERSION=$("$workerd" --version) DATE=$date python3 "$here/extract.py" "$work" "$here/../workerd-$date.json"
done
