#!/usr/bin/env bash
# clang-tidy over the sources of the command: tidy.sh BUILD_DIR JOBS
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files 'src/*.cc' | grep -v '_test\.cc$\|/testdata/' |
  xargs -d '\n' -n 4 -P "$2" clang-tidy-19 -p "$1" --quiet --warnings-as-errors='*'
