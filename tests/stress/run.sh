#!/bin/sh
# run.sh PLUMB SECONDS FOLDER: builds threads.c in `full`, optimised and not, and
# runs both.
set -eu
here=$(dirname "$0")
mkdir -p "$3"
for level in -O0 -O2; do
  "$1" cc -g "$level" -I "$here/../../include" "$here/threads.c" -o "$3/threads$level" -lpthread
  PLUMB_OPTIONS=output="$3/threads$level.json" "$3/threads$level" "$2"
done
