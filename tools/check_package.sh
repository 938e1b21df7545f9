#!/usr/bin/env bash
# Unpacks the .deb into an empty folder and uses what it installed from there.
# check_package.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
deb=$(ls -t "$1"/*.deb | head -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

dpkg-deb --info "$deb" | grep -E '^ (Package|Version|Depends|Architecture)'
dpkg-deb -x "$deb" "$folder"
for file in usr/bin/plumb usr/lib/plumb/libplumb_preload.so usr/lib/plumb/libplumb_watch.so \
  usr/lib/plumb/libplumb_cc.so usr/lib/plumb/libplumb_pass.so usr/lib/plumb/libplumb_sampled_pass.so \
  usr/lib/plumb/libplumb_lower.so \
  usr/lib/plumb/libplumb_observe.so usr/lib/plumb/models/c.models usr/bin/plumb-cc usr/bin/plumb-model \
  usr/include/plumb.h usr/include/plumb_gtest.h usr/include/plumb_catch2.h \
  usr/include/plumb_listener.h usr/share/man/man1/plumb.1 \
  usr/lib/plumb/valgrind/plumb-amd64-linux usr/share/doc/plumb-leaks/copyright \
  usr/share/bash-completion/completions/plumb usr/share/zsh/vendor-completions/_plumb \
  usr/share/fish/vendor_completions.d/plumb.fish; do
  [ -e "$folder/$file" ] || { echo "package: $file is missing" >&2; exit 1; }
done
if grep -rlI "$PWD" "$folder" >&2; then
  echo "package: the files above name the build directory" >&2
  exit 1
fi

cc -g -o "$folder/mailroom" examples/mailroom.c
status=0
"$folder/usr/bin/plumb" run --error-exitcode=9 -- "$folder/mailroom" >/dev/null 2>"$folder/report" || status=$?
if [ "$status" -ne 9 ] || ! grep -q 'leak\[lost\]' "$folder/report" ||
  ! grep -q 'lost here' "$folder/report"; then
  cat "$folder/report" >&2
  echo "package: the installed plumb does not find the example's leaks (status $status)" >&2
  exit 1
fi
echo "package: ok"
