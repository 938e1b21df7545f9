#!/bin/sh
# Runs a fuzz target for a bounded time: run_bounded.sh TARGET SEEDS FOUND
set -eu
target=$1 seeds=$2 found=$3
seconds=${PLUMB_FUZZ_SECONDS:-20}
mkdir -p "$found"
[ -d "$seeds" ] || { echo "no seeds in $seeds" >&2; exit 1; }
exec "$target" -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
  -artifact_prefix="$found/" "$found" "$seeds"
