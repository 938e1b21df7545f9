#!/usr/bin/env bash
# The demonstration: a small program, its leaks, and what each report shows.
# demo.sh BUILD_DIR
set -euo pipefail
plumb=$(realpath "$1")/bin/plumb
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp examples/mailroom.c "$folder/"
cd "$folder"

show() {
  printf '\n$ %s\n' "$*"
  PATH="$(dirname "$plumb"):$PATH" "$@"
}

show cc -g -o mailroom mailroom.c
show plumb run --output=before.json -- ./mailroom
show plumb report --kind=lost before.json || [ $? -eq 1 ]

# Mend one of the three, as a reader of the report would, and compare.
printf '\n(mend letter_free: it forgets the text)\n'
sed -i 's/  free(letter->name);/  free(letter->name);\n  free(letter->text);/' mailroom.c
show cc -g -o mailroom mailroom.c
show plumb run --output=after.json -- ./mailroom
show plumb diff before.json after.json
