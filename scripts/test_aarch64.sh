#!/usr/bin/env bash
# Installs the offline bundle in emulated Debian arm64 roots, without a network, and compares one
# spoken word with this machine's. The last line says PASSED, FAILED or SKIPPED for each root.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/test_aarch64.sh [--work DIR] [SUITE...]

  SUITE       Debian suites to try (default: bullseye bookworm)
  --work DIR  keep roots and bundles here, so that the next run is quick (default: out/aarch64)

Needs root, a network, and the default voice. EDGE_TTS_REQUIRE_AARCH64=1 makes a skip a failure.
USAGE
}

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
WORD=Yes.
# Without the security suite, whose packages leave the mirrors when a release grows old.
MIRROR=http://deb.debian.org/debian
# Log-mel distance between processors; a changed word or a broken kernel is far beyond it.
LIMIT_DB=3.0
ROOT_TIMEOUT_S=150
SPEECH_TIMEOUT_S=240
PACKAGES=(qemu-user-static mmdebstrap)
INCLUDE=base-files,python3,python3-pip,ca-certificates,libportaudio2,libasound2-plugins
INCLUDE=$INCLUDE,dash,bash,coreutils,libc-bin,netbase

work=$ROOT/out/aarch64 suites=()
while [ $# -gt 0 ]; do
  case "$1" in
    --work) work=${2:?--work needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) suites+=("$1") ;;
  esac
  shift
done
[ ${#suites[@]} -gt 0 ] || suites=(bullseye bookworm)
n_passed=0 n_skipped=0

skip() {
  say "SKIPPED aarch64: $*"
  n_skipped=$((n_skipped + 1))
}

python_of() {
  case "$1" in
    bullseye) echo 3.9 ;;
    bookworm) echo 3.11 ;;
    trixie) echo 3.13 ;;
    *) die "unknown suite $1; known: bullseye bookworm trixie" ;;
  esac
}

prepare_host() {
  if [ "$(id -u)" -ne 0 ]; then skip "not root"; return 1; fi
  unshare --mount --net true 2>/dev/null || { skip "no namespaces in this container"; return 1; }
  if ! command -v qemu-aarch64-static >/dev/null || ! command -v mmdebstrap >/dev/null; then
    apt_install "${PACKAGES[@]}" || { skip "cannot install ${PACKAGES[*]}"; return 1; }
  fi
}

# Registers the emulator; the flag F keeps it open, so that it is found inside the root.
register_emulator() {
  local registry=/proc/sys/fs/binfmt_misc
  mountpoint -q "$registry" || mount -t binfmt_misc binfmt_misc "$registry" 2>/dev/null || true
  [ -e "$registry/qemu-aarch64" ] && return 0
  local magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":qemu-aarch64:M::$magic:$mask:/usr/bin/qemu-aarch64-static:F" \
    >"$registry/register" 2>/dev/null && return 0
  skip "this kernel lets no emulator be registered in $registry"
  return 1
}

make_root() { # SUITE
  local root=$work/$1
  [ -e "$root.done" ] && return 0
  say "fetching Debian $1 for arm64"
  rm -rf "$root"
  # `extract` runs nothing under emulation; a full set-up takes over ten minutes there.
  timeout "$ROOT_TIMEOUT_S" mmdebstrap -q --variant=extract --arch=arm64 \
    --include="$INCLUDE" "$1" "$root" "deb $MIRROR $1 main" >&2 </dev/null || return 1
  inside "$1" /sbin/ldconfig
  touch "$root.done"
}

# ONNX Runtime reads the processor's features here and must not find the host's.
write_cpuinfo() {
  cat >"$work/cpuinfo" <<'CPUINFO'
processor	: 0
BogoMIPS	: 108.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid asimdrdm atomics fphp asimdhp lrcpc dcpop asimddp
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

CPUINFO
}

# inside SUITE COMMAND...: in the root, without a network, in mounts of its own. Under QEMU_CPU=max
# the default voice comes out wrong; neoverse-n1 matches the processor described above.
inside() {
  local suite=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --net --propagation private bash -euc '
    root=$1 cpuinfo=$2 bundle=$3; shift 3
    mkdir -p "$root"/proc "$root"/dev "$root"/media
    mount -t proc proc "$root/proc"; mount --bind "$cpuinfo" "$root/proc/cpuinfo"
    mount --rbind /dev "$root/dev"
    if [ -d "$bundle" ]; then mount --bind "$bundle" "$root/media"; fi
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 QEMU_CPU=neoverse-n1 \
      PYTHONPATH=/opt/site EDGE_TTS_VOICES_DIR=/media/voices "$(command -v chroot)" "$root" "$@"
  ' _ "$work/$suite" "$work/cpuinfo" "$work/bundle-$(python_of "$suite")" "$@" </dev/null
}

make_bundle() { # SUITE
  local python
  python=$(python_of "$1")
  "$VENV_PYTHON" "$ROOT/scripts/make_offline_bundle.py" --machine aarch64 --python "$python" \
    --out "$work/bundle-$python" >&2
}

write_sound_device() { # HOME FILE
  cat >"$1/.asoundrc" <<ASOUNDRC
pcm.!default { type plug slave { pcm "wavout" rate 48000 format S16_LE channels 2 }
  hint { show on description "wav" } }
pcm.wavout { type file slave.pcm "nul" file "$2" format "wav" perm 0644 }
pcm.nul { type null }
ASOUNDRC
}

speak_emulated() { # SUITE
  local root=$work/$1
  inside "$1" /bin/bash -ec 'cd /media && sha256sum --quiet --check SHA256SUMS' || return 1
  rm -rf "$root/opt/site" "$root/root/heard.wav"
  say "$1: installing under emulation"
  inside "$1" /usr/bin/timeout "$SPEECH_TIMEOUT_S" /usr/bin/python3 -m pip install --quiet \
    --no-index --find-links /media/wheels --no-compile --target /opt/site edge-tts-device >&2 \
    || return 1
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
from edge_tts.build.kokoro.gate import mel_distance_db


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
  make_bundle "$1" || { skip "$1: the bundle could not be made"; return 0; }
  make_root "$1" || { skip "$1: Debian's mirror did not give the root"; return 0; }
  speak_here "$1"
  speak_emulated "$1" || die "FAILED aarch64 $1: no speech"
  compare "$1" || die "FAILED aarch64 $1: the sound differs"
  n_passed=$((n_passed + 1))
}

mkdir -p "$work"
work=$(cd "$work" && pwd)
write_cpuinfo
if prepare_host && register_emulator; then
  for suite in "${suites[@]}"; do try_suite "$suite"; done
fi
say "aarch64: $n_passed passed, $n_skipped skipped"
if [ "$n_skipped" -gt 0 ] && [ -n "${EDGE_TTS_REQUIRE_AARCH64:-}" ]; then exit 1; fi
