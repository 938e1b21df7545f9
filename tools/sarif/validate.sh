#!/usr/bin/env bash
# Validates SARIF files: schema, SARIF's own rules, GitHub's. See validate.mjs.
#
#   tools/sarif/validate.sh FILE...
#   tools/sarif/validate.sh --self-test     does it refuse what is wrong?
#
# What it needs comes from npm, in the versions of package-lock.json, into
# PLUMB_SARIF_DIR (build/sarif unless set), once. Exit status: 0 all valid,
# 1 not, 77 (skipped) when npm or node is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${PLUMB_SARIF_DIR:-$here/../../build/sarif}

if [ $# -eq 0 ]; then
  echo "usage: tools/sarif/validate.sh FILE... | --self-test" >&2
  exit 2
fi
for tool in npm node; do
  if ! command -v "$tool" >/dev/null; then
    echo "validate.sh: SKIPPED, NOTHING WAS VALIDATED: $tool is not installed" >&2
    echo "  remedy: apt-get install npm" >&2
    exit 77
  fi
done

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
exec 9>"$dir/lock"
flock 9  # tests run side by side; one installs
if ! cmp -s "$here/package-lock.json" "$dir/installed.json"; then
  rm -f "$dir/installed.json"
  cp "$here/package.json" "$here/package-lock.json" "$dir/"
  # The packages' own scripts are not run; the only one would make this
  # program executable.
  if ! (cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund) >"$dir/npm.log" 2>&1; then
    echo "validate.sh: npm ci failed:" >&2
    cat "$dir/npm.log" >&2
    exit 1
  fi
  chmod u+x "$dir/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
  cp "$here/package-lock.json" "$dir/installed.json"
fi
flock -u 9

exec node "$here/validate.mjs" "$dir" "$dir/scratch.$$" "$@"
