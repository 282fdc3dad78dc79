"""Joins the worker's report and the _cf_KV rows of its database into one golden file."""
import glob
import json
import os
import sqlite3
import sys

work, target = sys.argv[1], sys.argv[2]
with open(os.path.join(work, "report.json")) as f:
    report = json.load(f)
values = {}
for path in glob.glob(os.path.join(work, "data", "**", "*.sqlite"), recursive=True):
    db = sqlite3.connect(path)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
    if "_cf_KV" in tables:
        values.update((k, v.hex()) for k, v in db.execute("SELECT key, value FROM _cf_KV"))
golden = {
    "workerd": os.environ["WORKERD_VERSION"],
    "compatibilityDate": os.environ["DATE"],
    "values": dict(sorted(values.items())),
    "notStored": {k: v for k, v in sorted(report["stored"].items()) if v != "ok"},
    "failures": report["failures"],
    "stacks": report["stacks"],
    "depth": report["depth"],
}
with open(target, "w") as f:
    json.dump(golden, f, indent=1)
    f.write("\n")
