#!/usr/bin/env bash
# The tests of the page in headless Chromium.
#
#   web/test/run.sh PLUMB [SCREENSHOTS]
#
# Exit status: 77 (skipped) when node, Chromium or what npm gives is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(cd "${PLUMB_WEB_DIR:-$here/../../build/web}" 2>/dev/null && pwd) || dir=
chromium=${PLUMB_CHROMIUM:-$(command -v chromium || true)}
skip() {
  echo "run.sh: SKIPPED, THE PAGE WAS NOT TESTED: $1" >&2
  exit 77
}
command -v node >/dev/null || skip "node is not installed (apt-get install npm)"
[ -n "$chromium" ] || skip "chromium is not installed (apt-get install chromium)"
[ -n "$dir" ] && [ -d "$dir/node_modules/playwright-core" ] || skip "web/build.sh did not get its packages from npm"

PLUMB=$(readlink -f "$1") PLUMB_SCREENSHOTS=${2:-} PLUMB_WEB_DIR=$dir PLUMB_CHROMIUM=$chromium \
  exec node --test "$here/page.test.mjs"
