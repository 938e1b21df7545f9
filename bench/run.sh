#!/usr/bin/env bash
# Measurements beside other tools: bench/run.sh [NAME], all without a name.
# Each prints a table in Markdown; docs/benchmarks.md shows the last ones.
# bench/run.sh --list says which there are.
set -euo pipefail
cd "$(dirname "$0")/.."
plumb=build/release/bin/plumb
all=(large-report agreement overhead shares library robust leak-suites places compiled-suites dropped injected compiled sampled bursts fidelity figures heap-model packages static static-generated large-check)
names=("${all[@]}")
if [ "${1:-}" = --list ]; then
  printf '%s\n' "${all[@]}"
  exit 0
fi
# Options go to the measurement named before them: static --suites=DIR.
options=()
[ $# -gt 0 ] && names=()
for word in "$@"; do
  case $word in
    -*) options+=("$word") ;;
    *) names+=("$word") ;;
  esac
done
for name in "${names[@]}"; do
  case $name in
    large-report) python3 bench/large_report.py "$plumb" ;;
    agreement) python3 bench/agreement.py "$plumb" "${options[@]}" ;;
    robust) python3 bench/robust.py "$plumb" "${options[@]}" ;;
    leak-suites) python3 bench/leak_suites.py "$plumb" "${options[@]}" ;;
    shares) python3 bench/shares.py "$plumb" "${options[@]}" ;;
    library) python3 bench/library.py build/release/lib/plumb/libplumb_preload.so "${options[@]}" ;;
    places) python3 bench/places.py "$plumb" "${options[@]}" ;;
    compiled-suites) python3 bench/compiled_suites.py "$plumb" "${options[@]}" ;;
    dropped) python3 bench/dropped.py "$plumb" "${options[@]}" ;;
    overhead) python3 bench/overhead.py "$plumb" "${options[@]}" ;;
    injected) python3 bench/injected.py "$plumb" "${options[@]}" ;;
    compiled) python3 bench/compiled.py "$plumb" "${options[@]}" ;;
    sampled) python3 bench/sampled.py "$plumb" "${options[@]}" ;;
    bursts) python3 bench/bursts.py "$plumb" "${options[@]}" ;;
    fidelity) python3 bench/fidelity.py "$plumb" "${options[@]}" ;;
    figures) python3 bench/figures.py "$plumb" "${options[@]}" ;;
    heap-model) python3 bench/heap_model.py ;;
    packages) python3 bench/packages.py "$plumb" "${options[@]}" ;;
    static) python3 bench/static.py "$plumb" "${options[@]}" ;;
    static-generated) python3 bench/generated.py "$plumb" "${options[@]}" ;;
    large-check) python3 bench/static/large.py "$plumb" "${options[@]}" ;;
    *)
      echo "bench: no measurement '$name'; there are: ${all[*]}" >&2
      exit 2
      ;;
  esac
done
