#!/usr/bin/env bash
# Lists the C and C++ sources that follow the project's format. Cases keep
# their own layout: their markers belong to lines.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files --cached --others --exclude-standard '*.h' '*.cc' '*.c' | grep -vE '^(tests/cases|tests/lit|examples)/|/testdata/'
