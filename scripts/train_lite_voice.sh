#!/usr/bin/env bash
# Trains a small lite voice from the default voice: teacher, codec, language model, samples, page.
# Every step goes on where it was stopped, so this may be interrupted and started again at will.
#
#   scripts/train_lite_voice.sh DIR [--texts N] [--codec-minutes M] [--minutes M] [--threads N]
#
# DIR/data gets the teacher's sentences, DIR/run the networks, curves, samples and page, and
# DIR/run/checkpoint what `edge-tts build` accepts. The minutes bound this call, not the whole.
set -euo pipefail

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

texts=()
threads=()
codec=()
model=()
dir=
while [ $# -gt 0 ]; do
  case "$1" in
    --help) usage; exit 0 ;;
    --texts) texts=("$1" "${2:?$1 needs a number}"); shift 2 ;;
    --threads) threads=("$1" "${2:?$1 needs a number}"); shift 2 ;;
    --codec-minutes) codec=(--minutes "${2:?$1 needs a number}"); shift 2 ;;
    --minutes) model=(--minutes "${2:?$1 needs a number}"); shift 2 ;;
    -*) usage >&2; exit 2 ;;
    *) dir=$1; shift ;;
  esac
done
if [ -z "$dir" ]; then
  usage >&2
  exit 2
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${EDGE_TTS_PYTHON:-$root/.venv/bin/python}
# Hours of work must not be felt by whoever else uses the machine.
step() {
  (cd "$root" && nice -n 19 "$python" -m "edge_tts.build.lite_voice.$1" "${@:2}")
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
step teacher "$dir/data" "${texts[@]+"${texts[@]}"}" "${threads[@]+"${threads[@]}"}"
step train codec "$dir/data" "$dir/run" "${codec[@]+"${codec[@]}"}" "${threads[@]+"${threads[@]}"}"
step train language_model "$dir/data" "$dir/run" \
  "${model[@]+"${model[@]}"}" "${threads[@]+"${threads[@]}"}"
step evaluate "$dir/data" "$dir/run"
step page "$dir/run"
