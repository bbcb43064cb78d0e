#!/usr/bin/env bash
# Installs the offline bundle in emulated Debian arm64 roots, without a network, and compares one
# spoken word with this machine's. The last line says PASSED, FAILED or SKIPPED.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/test_aarch64.sh [--work DIR] [SUITE...]

  SUITE       Debian suites to try (default: bullseye trixie)
  --work DIR  keep roots and bundles here, so that the next run is quick (default: out/aarch64)

Needs root, a network, and the default voice. EDGE_TTS_REQUIRE_AARCH64=1 makes a skip a failure.
USAGE
}

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
# shellcheck source=scripts/arm64_root.sh
. "$ROOT/scripts/arm64_root.sh"
cd "$ROOT" # this checkout's package, whatever is installed
WORD=Yes.
# Log-mel distance between processors; a changed word or a broken kernel is far beyond it.
LIMIT_DB=3.0
SPEECH_TIMEOUT_S=480

suites=()
while [ $# -gt 0 ]; do
  case "$1" in
    --work) work=${2:?--work needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) suites+=("$1") ;;
  esac
  shift
done
[ ${#suites[@]} -gt 0 ] || suites=(bullseye trixie)
n_passed=0

write_sound_device() { # HOME FILE
  cat >"$1/.asoundrc" <<ASOUNDRC
pcm.!default { type plug slave { pcm "wavout" rate 48000 format S16_LE channels 2 }
  hint { show on description "wav" } }
pcm.wavout { type file slave.pcm "nul" file "$2" format "wav" perm 0644 }
pcm.nul { type null }
ASOUNDRC
}

speak_emulated() { # SUITE
  local pip root=$work/$1
  inside "$1" /bin/bash -ec 'cd /media && sha256sum --quiet --check SHA256SUMS' || return 1
  rm -rf "$root/opt/site" "$root/root/heard.wav"
  say "$1: installing under emulation"
  pip=$(basename "$work/bundle-$(python_of "$1")"/wheels/pip-*.whl)
  inside "$1" /usr/bin/timeout "$SPEECH_TIMEOUT_S" /usr/bin/python3 "/media/wheels/$pip/pip" \
    install --quiet --no-index --find-links /media/wheels --no-compile --target /opt/site \
    edge-tts-device >&2 || return 1
  write_sound_device "$root/root" /root/heard.wav
  say "$1: speaking under emulation"
  inside "$1" /usr/bin/timeout "$SPEECH_TIMEOUT_S" /usr/bin/python3 -m edge_tts speak --no-service \
    "$WORD" >&2 && [ -s "$root/root/heard.wav" ] || return 1
  # The device is not paced and starves under emulation, so the samples are compared from a file.
  inside "$1" /usr/bin/timeout "$SPEECH_TIMEOUT_S" /usr/bin/python3 -m edge_tts speak --no-service \
    "$WORD" -o /root/word.wav >&2
}

speak_here() {
  mkdir -p "$work/home"
  EDGE_TTS_VOICES_DIR=$work/bundle-$(python_of "$1")/voices HOME=$work/home \
    "$VENV_PYTHON" -m edge_tts speak --no-service "$WORD" -o "$work/home/word.wav" >&2
}

compare() { # SUITE
  "$VENV_PYTHON" - "$work/home/word.wav" "$work/$1/root/word.wav" "$LIMIT_DB" "$1" \
    "$work/$1/root/heard.wav" <<'PYTHON'
import sys, wave
import numpy as np
from edge_tts.build.mel_distance import mel_distance_db


def read(path):
    with wave.open(path) as file:
        raw = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return (raw / np.float32(32768)).astype(np.float32)


if not (np.abs(read(sys.argv[5])) > 0.1).any():
    sys.exit("nothing was heard at the sound device")
here, there = read(sys.argv[1]), read(sys.argv[2])
limit_db, suite = float(sys.argv[3]), sys.argv[4]
apart_s = abs(len(here) - len(there)) / 24_000
shorter = min(len(here), len(there))
distance_db = mel_distance_db(here[:shorter], there[:shorter])
print(f"{suite}: {len(there) / 24_000:.2f} s of sound, {apart_s:.3f} s and {distance_db:.2f} dB"
      f" from x86 (at most 0.1 s and {limit_db} dB)")
sys.exit(not (apart_s <= 0.1 and distance_db <= limit_db))
PYTHON
}

try_suite() {
  make_bundle "$1" && make_root "$1" || return 0
  speak_here "$1" || die "FAILED aarch64 $1: no speech on this machine"
  speak_emulated "$1" || die "FAILED aarch64 $1: no speech"
  compare "$1" || die "FAILED aarch64 $1: the sound differs"
  n_passed=$((n_passed + 1))
}

mkdir -p "$work"
work=$(cd "$work" && pwd)
if ready_for_emulation mmdebstrap; then
  for suite in "${suites[@]}"; do try_suite "$suite"; done
fi
if [ "$n_skipped" -eq 0 ]; then
  say "PASSED aarch64: ${suites[*]} in $SECONDS s"
else
  say "SKIPPED aarch64: $n_passed of ${#suites[@]} roots were tried, $SECONDS s"
  [ -z "${EDGE_TTS_REQUIRE_AARCH64:-}" ] || exit 1
fi
