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

# One of them shows in the source alone, without running it.
show plumb check mailroom.c || [ $? -eq 1 ]

# The same report for a browser, kept where it can be opened. The page comes with npm,
# which may have been out of reach.
if show plumb report --format=html --output=before.html before.json || [ $? -eq 1 ]; then
  page=$(dirname "$plumb")/../mailroom.html
  cp before.html "$page"
  printf '\nOpen %s in a browser to see the leaks before the mend.\n' \
    "$(realpath --relative-to="$OLDPWD" "$page")"
fi
