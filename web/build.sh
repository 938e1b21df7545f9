#!/usr/bin/env bash
# Makes the page's bundle: page.js, page.css and page.csp (their hashes).
#
#   web/build.sh OUT [FALLBACK]
#
# What it needs comes from npm, in the versions of package-lock.json, into
# PLUMB_WEB_DIR (build/web unless set), once; the bundle is made there once for
# all presets and copied to OUT. When npm or its registry is out of reach, the
# bundle of a release is taken from FALLBACK if there is one; else OUT/missing
# says so and the command refuses --format=html. Either is said on standard error.
# An error in the page's own source is an error of the build.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=${PLUMB_WEB_DIR:-$here/../build/web}
out=$1
fallback=${2:-}
mkdir -p "$out" "$dir"
dir=$(cd "$dir" && pwd)

without_npm() {
  echo "page: npm is out of reach: $1" >&2
  rm -f "$out"/page.{js,css,csp} "$out/missing"
  if [ -n "$fallback" ] && [ -f "$fallback/page.js" ] && [ -f "$fallback/page.css" ] &&
    [ -f "$fallback/page.csp" ]; then
    echo "page: taking the bundle of the release in $fallback" >&2
    cp "$fallback"/page.{js,css,csp} "$out/"
  else
    echo "page: no bundle of a release in '$fallback' either: this plumb will refuse --format=html" >&2
    echo "  remedy: install npm, or set PLUMB_PAGE_BUNDLE to a folder with page.js, page.css and page.csp" >&2
    echo "$1" >"$out/missing"
  fi
  exit 0
}

for tool in npm node; do
  command -v "$tool" >/dev/null || without_npm "$tool is not installed"
done

exec 9>"$dir/lock"
flock 9 # presets are built side by side; one installs
if ! cmp -s "$here/package-lock.json" "$dir/installed.json"; then
  rm -f "$dir/installed.json"
  cp "$here/package.json" "$here/package-lock.json" "$dir/"
  # The packages' own scripts are not run: nothing here needs them.
  (cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund) >"$dir/npm.log" 2>&1 ||
    without_npm "npm ci failed: $(grep -m1 -iE 'err' "$dir/npm.log" || tail -n 1 "$dir/npm.log")"
  cp "$here/package-lock.json" "$dir/installed.json"
fi

key=$(cd "$here" && cat build.mjs tsconfig.json package-lock.json src/* | sha256sum)
if [ "$(cat "$dir/key" 2>/dev/null)" != "$key" ]; then
  rm -f "$dir/key"
  node "$here/build.mjs" "$dir" "$dir/bundle"
  echo "$key" >"$dir/key"
fi
rm -f "$out/missing"
cp "$dir"/bundle/page.{js,css,csp} "$out/"
