#!/usr/bin/env bash
# Collects this board's figures into one folder, report.md and a tar. What is missing is said.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/board_report.sh [--out DIR] [--quick]

  --out DIR  where the report goes (default: out/board-report)
  --quick    leave out the soak, first-sound and engine-building measurements

Reads only, except for engine builds, which go into the installed voice.
USAGE
}

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
[ ! -x /opt/edge-tts/venv/bin/edge-tts ] || VENV=/opt/edge-tts/venv
STEP_TIMEOUT_S=3600
out=$ROOT/out/board-report quick=no
while [ $# -gt 0 ]; do
  case "$1" in
    --out) out=${2:?--out needs a folder}; shift ;;
    --quick) quick=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
report=$out/report.md
printf '# Board report\n\n| figure | result | file |\n|---|---|---|\n' >"$report"

row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3" >>"$report"; }

# measure NAME FILE COMMAND...: a failed or missing command is a row of the report, not the end.
measure() {
  local name=$1 file=$2 code=0 start_s=$SECONDS
  shift 2
  if ! command -v "$1" >/dev/null; then row "$name" "missing: no $(basename "$1")" -; return 0; fi
  say "$name"
  timeout "$STEP_TIMEOUT_S" "$@" >"$out/$file" 2>"$out/$file.err" </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    row "$name" "$((SECONDS - start_s)) s" "$file"
  else
    row "$name" "FAILED with exit code $code after $((SECONDS - start_s)) s" "$file.err"
  fi
}

copy_file() { # NAME FILE
  local name=${2##*/}
  if [ -r "$2" ]; then
    tr -d '\0' <"$2" >"$out/$name"
    row "$1" present "$name"
  else
    row "$1" "missing: no $2" -
  fi
}

# The platform is named as scripts/provision_jetson.sh does.
platform_of_board() {
  case "$(tr -d '\0' 2>/dev/null </proc/device-tree/model || true)" in
    *Xavier*NX*) echo xavier-nx ;;
    *Orin*) echo orin ;;
    *Thor*) echo thor ;;
  esac
}

copy_file "JetPack release" /etc/nv_tegra_release
copy_file "board" /proc/device-tree/model
copy_file "memory" /proc/meminfo
measure "processor" lscpu.txt lscpu
measure "power mode" nvpmodel.txt nvpmodel -q
measure "clocks" jetson_clocks.txt jetson_clocks --show
measure "doctor" doctor.json "$VENV/bin/edge-tts" doctor --json
measure "service" status.json "$VENV/bin/edge-tts" status --json
measure "first words" speak.log /usr/bin/env time -v "$VENV/bin/edge-tts" speak --no-service \
  -o "$out/words.wav" "The report begins."
if [ "$quick" = no ]; then
  platform=$(platform_of_board)
  if [ -n "$platform" ]; then
    measure "engines built" build.log "$VENV/bin/edge-tts" build kokoro --platform "$platform"
  else
    row "engines built" "missing: not a Jetson board" -
  fi
  measure "first sound" first_sound.txt "$VENV/bin/python" "$ROOT/bench/first_sound.py" --rounds 5
  measure "memory under load" load.txt "$VENV/bin/python" "$ROOT/bench/memory.py" --quick
  measure "soak" soak.txt "$VENV/bin/python" "$ROOT/bench/soak.py" --quick
fi
voices=${EDGE_TTS_VOICES_DIR:-/var/lib/edge-tts/voices}
measure "engine sizes" engines.txt find "$voices" -name '*.plan' -printf '%s %p\n'
measure "device memory" nvmap.txt cat /sys/kernel/debug/nvmap/iovmm/clients
if command -v tegrastats >/dev/null; then
  timeout 10 tegrastats --interval 1000 >"$out/tegrastats.txt" || true # it never ends by itself
  row "tegrastats" "10 s" tegrastats.txt
else
  row "tegrastats" "missing: no tegrastats" -
fi
tar -czf "$out.tar.gz" -C "$(dirname "$out")" "$(basename "$out")"
cat "$report"
say "send $out.tar.gz"
