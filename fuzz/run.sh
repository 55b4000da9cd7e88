#!/bin/sh
# Runs every fuzz target for some seconds, one after the other: fuzz/run.sh [SECONDS] [TARGET...]
# What is found stays in a folder of its own; fuzz/seeds holds what people wrote.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)
corpus=${SCHEDRIG_FUZZ_CORPUS:-fuzz/corpus}
for target in "$@"; do
  mkdir -p "$corpus/$target"
  seeds=fuzz/seeds/$target
  [ -d "$seeds" ] || seeds=
  cargo +nightly fuzz run "$target" "$corpus/$target" $seeds -- -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1
done
