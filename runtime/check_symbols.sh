#!/bin/sh
# Compares what a runtime library needs from libc, and what it shows to the
# program, with the list beside its sources: a new entry means a new way to
# disturb the program, and wants a thought.
#
#   check_symbols.sh LIBRARY GOLDEN [--update]
set -eu
export LC_ALL=C
library=$1
golden=$2
found=$(
  echo "# needs"
  nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u
  echo "# shows"
  nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u
  echo "# libraries"
  readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u
)
if [ "${3:-}" = --update ]; then
  echo "$found" > "$golden"
  exit 0
fi
echo "$found" | diff -u "$golden" -
