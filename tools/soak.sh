#!/usr/bin/env bash
# The long tests, whole: soak.sh MINUTES. Half of the time goes to generated
# programs, half to the fuzz targets; results are written to docs/soak.md. Called
# by ./dev, which builds what it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=$1
out=build/soak
mkdir -p "$out"
failed=0

programs=$((minutes * 20)) # each is compiled, run and judged several times: seconds
python3 tests/generator/compare.py --plumb=build/dev/bin/plumb --seeds="1..$programs" \
  --engines=run,memcheck >"$out/generator.txt" 2>&1 || failed=1

# The corpus by the compiler of which ./dev test takes a share.
python3 tests/runner/run_cases.py --plumb=build/dev/bin/plumb --engine=run --compilers=clang-19 \
  --build-dir="$out/cases" >"$out/cases.txt" 2>&1 || failed=1

# Programs built by plumb cc must lose what they lose, in both ways of compiling.
python3 tests/generator/compare.py --plumb=build/dev/bin/plumb --seeds="1..$programs" \
  --engines=cc >"$out/generator-cc.txt" 2>&1 || failed=1
tests/stress/run.sh build/dev/bin/plumb 60 "$out/stress" >"$out/stress.txt" 2>&1 || failed=1
build/dev/runtime/plumb_cc_threads_test 60 >>"$out/stress.txt" 2>&1 || failed=1
python3 bench/robust.py build/dev/bin/plumb >"$out/robust.txt" 2>&1 || failed=1
# What is threaded, under ThreadSanitizer: TSAN_TESTS are those that ./dev builds.
: >"$out/tsan.txt"
for test in $TSAN_TESTS; do
  echo "$test" >>"$out/tsan.txt"
  "$(find build/tsan -name "$test" -type f)" 2>&1 | tail -n 3 >>"$out/tsan.txt" || failed=1
done

# A server with a small leak, ten minutes at most (77: there is no redis-server).
python3 tools/soak_watch.py build/dev/bin/plumb "$((minutes < 10 ? minutes : 10))" \
  >"$out/watch.txt" 2>&1 || [ $? = 77 ] || failed=1
python3 tools/soak_fleet.py build/dev/bin/plumb >"$out/fleet.txt" 2>&1 || [ $? = 77 ] || failed=1
# What is broken or absurdly large, and a farm of two hosts (77: not possible here).
python3 tests/hostile/hostile.py --plumb=build/dev/bin/plumb --scale=large \
  >"$out/hostile.txt" 2>&1 || failed=1
tools/farm.sh build/dev/bin/plumb >"$out/farm.txt" 2>&1 || [ $? = 77 ] || failed=1

targets=(build/asan/fuzz/fuzz_*)
seconds=$((minutes * 30 / ${#targets[@]}))
for target in "${targets[@]}"; do
  name=$(basename "$target")
  mkdir -p "$out/$name"
  "$target" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$out/" \
    "$out/$name" "fuzz/corpus/${name#fuzz_}" >"$out/$name.txt" 2>&1 || failed=1
done

{
  printf '# Soak\n\nWritten by `./dev soak %s`; %s cores, %s.\n' "$minutes" "$(nproc)" "$(date -u +%F)"
  printf '\n## Generated programs\n\n```\n%s\n```\n' "$(tail -n 20 "$out/generator.txt")"
  printf '\n## Cases, built by clang\n\n```\n%s\n```\n' "$(tail -n 5 "$out/cases.txt")"
  printf '\n## Programs built by plumb cc\n\n```\n%s\n```\n' "$(tail -n 20 "$out/generator-cc.txt")"
  printf '\n## 64 threads, a minute each (-O0, -O2, under ThreadSanitizer)\n\n```\n%s\n```\n' "$(cat "$out/stress.txt")"
  printf '\n## Programs at their limits, under plumb run\n%s\n' "$(cat "$out/robust.txt")"
  printf '\n## Under ThreadSanitizer\n\n```\n%s\n```\n' "$(cat "$out/tsan.txt")"
  printf '\n## A server under plumb watch\n\n```\n%s\n```\n' "$(cat "$out/watch.txt")"
  printf '\n## A fleet under plumb watch\n\n```\n%s\n```\n' "$(cat "$out/fleet.txt")"
  printf '\n## Hostile input of plumb check\n\n```\n%s\n```\n' "$(cat "$out/hostile.txt")"
  printf '\n## plumb model over two hosts\n\n```\n%s\n```\n' "$(cat "$out/farm.txt")"
  printf '\n## Fuzzing\n\n| target | executions | result |\n|---|---|---|\n'
  for target in "${targets[@]}"; do
    name=$(basename "$target")
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.txt")
    result=clean
    grep -q 'ERROR:\|SUMMARY:' "$out/$name.txt" && result='**failed**, see build/soak'
    printf '| `%s` | %s | %s |\n' "$name" "${runs:-0}" "$result"
  done
} >docs/soak.md
cat docs/soak.md
exit "$failed"
