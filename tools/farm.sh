#!/usr/bin/env bash
# `plumb model` spread over two hosts by distcc: farm.sh PLUMB
#
# The hosts are two network namespaces of this machine with a cable between them: one
# runs distccd, the other preprocesses and sends. Shown: every unit was made on the
# other host, and `plumb check` finds the same in them as in those of a local run. Needs root (or leave to make namespaces), ip, and Debian's distcc; says so and
# ends with 77 where one is missing.
set -euo pipefail
plumb=$(realpath "$1")
cases=$(realpath "$(dirname "$0")/../tests/cases")
for program in distcc distccd ip; do
  command -v "$program" >/dev/null || { echo "farm: $program is not installed" >&2; exit 77; }
done
work=$(mktemp -d)
here=plumb-$$-a there=plumb-$$-b
daemon=
clean() {
  [ -n "$daemon" ] && kill "$daemon" 2>/dev/null
  ip netns del "$here" 2>/dev/null
  ip netns del "$there" 2>/dev/null
  rm -rf "$work"
}
trap clean EXIT
ip netns add "$here" 2>/dev/null || { echo "farm: no leave to make network namespaces" >&2; exit 77; }
ip netns add "$there"
ip link add plumb0 netns "$here" type veth peer name plumb0 netns "$there"
for side in "$here 10.77.0.1" "$there 10.77.0.2"; do
  read -r name address <<<"$side"
  ip -n "$name" addr add "$address/24" dev plumb0
  ip -n "$name" link set plumb0 up
  ip -n "$name" link set lo up
done

# What the far host may run is listed by name.
ln -s "$plumb" "$work/plumb-model"
echo "$work/plumb-model" >"$work/commands"
chmod 755 "$work"
touch "$work/daemon.log"
chmod 666 "$work/daemon.log" # distccd is nobody
DISTCC_CMDLIST=$work/commands PATH=$work:$PATH ip netns exec "$there" \
  distccd --no-detach --daemon --user nobody --allow 10.77.0.1 --listen 10.77.0.2 --jobs 2 \
  --log-file "$work/daemon.log" --log-level info &
daemon=$!
for _ in $(seq 100); do
  ip netns exec "$here" bash -c 'exec 3<>/dev/tcp/10.77.0.2/3632' 2>/dev/null && break
  sleep 0.1
done

mkdir "$work/far" "$work/near"
units=0
cd "$cases" # the same folder for both: a unit names its source as it was given
for source in *_bad.c; do
  [ "$units" -lt 12 ] || break
  name=${source%.c}
  "$work/plumb-model" -c "$source" -o "$work/near/$name.unit"
  # distcc sends what has been preprocessed; without a fallback it cannot cheat.
  env -i HOME="$work" PATH="$work:$PATH" DISTCC_HOSTS=10.77.0.2 DISTCC_FALLBACK=0 \
    ip netns exec "$here" distcc "$work/plumb-model" -c "$source" -o "$work/far/$name.unit"
  units=$((units + 1))
done
made=$(grep -c COMPILE_OK "$work/daemon.log" || true)
found() { "$plumb" check --no-cache --format=folded "$1"/*.unit | sort; }
found "$work/near" >"$work/near.txt" || true
found "$work/far" >"$work/far.txt" || true
same=yes
cmp -s "$work/near.txt" "$work/far.txt" || same=no
echo "units made on the other host: $made of $units; findings there and here: $(
  wc -l <"$work/far.txt") and $(wc -l <"$work/near.txt"), the same: $same"
[ "$made" = "$units" ] && [ "$same" = yes ] && [ -s "$work/far.txt" ]
