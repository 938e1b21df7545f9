#!/usr/bin/env bash
# Checks that need no build: format, direction of includes, docs.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/sources.sh | xargs -d '\n' clang-format-19 --dry-run -Werror
python3 tools/check_includes.py
python3 tools/check_docs.py build/dev/bin/plumb
