#!/usr/bin/env bash
# Prepares a Jetson board: checks it, installs the service, builds engines, measures.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/provision_jetson.sh [--bundle DIR] [--dry-run] [--root DIR]

  --bundle DIR  install from this offline bundle (scripts/make_offline_bundle.py), no network
  --dry-run     check the board and print the commands instead of running them
  --root DIR    with --dry-run: read the board's files below DIR, to try this elsewhere

Needs root. May be run again: what is done already is kept.
USAGE
}

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
VENV=/opt/edge-tts/venv
MIN_FREE_AND_SWAP_MIB=6000
bundle='' board='' dry_run=no n_faults=0
while [ $# -gt 0 ]; do
  case "$1" in
    --bundle) bundle=${2:?--bundle needs a folder}; shift ;;
    --root) board=${2:?--root needs a folder}; shift ;;
    --dry-run) dry_run=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
if [ -n "$board" ] && [ "$dry_run" = no ]; then die "--root goes with --dry-run only"; fi

ok() { printf 'ok      %s\n' "$*"; }
advise() { printf 'advice  %s\n' "$*"; }
fault() { printf 'FAULT   %s\n' "$*"; n_faults=$((n_faults + 1)); }

run() {
  if [ "$dry_run" = yes ]; then printf 'would run: %s\n' "$*"; else "$@"; fi
}

# --- Checks ----------------------------------------------------------------------------------

# Sets `release` (35, 36, ...) and `platform`. The apt meta-package can lag behind this file.
check_jetpack() {
  local file=$board/etc/nv_tegra_release model
  release='' platform=generic
  if [ ! -r "$file" ]; then fault "no $file: this is not a Jetson board"; return 0; fi
  release=$(sed -n 's/^# R\([0-9]*\) .*/\1/p' "$file")
  case "$release" in
    35) ok "JetPack 5 (R35): TensorRT 8.5" ;;
    36) ok "JetPack 6 (R36)" ;;
    38 | 39) ok "JetPack 7 (R$release)" ;;
    *) fault "R${release:-?} in $file: JetPack 5, 6 or 7 is needed (TensorRT 8.5 or newer)" ;;
  esac
  model=$(tr -d '\0' <"$board/proc/device-tree/model" 2>/dev/null || true)
  case "$model" in
    *Xavier*NX*) platform=xavier-nx ;;
    *Orin*) platform=orin ;;
    *Thor*) platform=thor ;;
  esac
  ok "board ${model:-unknown}: platform $platform"
}

check_tensorrt() {
  if compgen -G "$board/usr/lib/python3*/dist-packages/tensorrt" >/dev/null; then
    ok "python3-libnvinfer"
  else
    fault "TensorRT's bindings are missing; run: sudo apt-get install -y python3-libnvinfer"
  fi
}

check_cuda() {
  if [ -x "$board/usr/local/cuda/bin/nvcc" ]; then
    ok "nvcc, which building pycuda needs"
  else
    advise "no /usr/local/cuda/bin/nvcc: pycuda cannot be built; sudo apt-get install -y cuda-toolkit"
  fi
}

check_memory() {
  local free_mib
  free_mib=$(awk '/^(MemAvailable|SwapFree):/ { kib += $2 } END { print int(kib / 1024) }' \
    "$board/proc/meminfo")
  if [ "$free_mib" -ge "$MIN_FREE_AND_SWAP_MIB" ]; then
    ok "$free_mib MiB of free memory and swap"
  else
    advise "$free_mib MiB of free memory and swap: building wants $MIN_FREE_AND_SWAP_MIB." \
      "Add a swap file, and stop the desktop: sudo systemctl isolate multi-user.target"
  fi
}

check_power_mode() {
  local status=$board/var/lib/nvpmodel/status
  if [ -r "$status" ]; then
    ok "power mode $(cat "$status"); times hold for this mode only"
  else
    advise "power mode unknown; see: sudo nvpmodel -q"
  fi
}

# --- Steps -----------------------------------------------------------------------------------

install_service() {
  local from=()
  # The service's environment must see JetPack's TensorRT, which lives in the system's packages.
  run python3 -m venv --system-site-packages "$VENV"
  if [ -n "$bundle" ]; then
    run bash -c 'cd "$1" && sha256sum --quiet --check SHA256SUMS' _ "$bundle"
    from=(--wheels "$bundle/wheels" --voices "$bundle/voices")
  fi
  run "$ROOT/scripts/install.sh" --no-start ${from[@]+"${from[@]}"}
}

# TensorRT 8.5 uses np.bool, which numpy 1.24 took away. pycuda has no wheels for the board; it is
# built against the numpy it will meet, and an isolated build would ask for a newer one.
install_cuda_packages() {
  local offline=() pycuda=pycuda
  [ -z "$bundle" ] || offline=(--no-index --find-links "$bundle/wheels")
  if [ "$release" = 35 ]; then
    run "$VENV/bin/python" -m pip install ${offline[@]+"${offline[@]}"} 'numpy>=1.22,<1.24'
    pycuda='pycuda<=2024.1.2'
  fi
  run "$VENV/bin/python" -m pip install ${offline[@]+"${offline[@]}"} setuptools wheel
  run env PATH="/usr/local/cuda/bin:$PATH" CPATH=/usr/local/cuda/include \
    LIBRARY_PATH=/usr/local/cuda/lib64 \
    "$VENV/bin/python" -m pip install ${offline[@]+"${offline[@]}"} --no-build-isolation "$pycuda" \
    || advise "pycuda was not built; see docs/tensorrt.md for what is used without it"
}

# Every engine passes its gate or is left to ONNX Runtime; either way the voice speaks.
build_engines() {
  local source=()
  [ -z "$bundle" ] || source=(--source "$bundle/wheels")
  run env EDGE_TTS_VOICES_DIR=/var/lib/edge-tts/voices "$VENV/bin/edge-tts" build kokoro \
    --platform "$platform" ${source[@]+"${source[@]}"} \
    || advise "no engines were built; the voice speaks through ONNX Runtime"
}

start_and_measure() {
  run systemctl restart edge-tts.socket edge-tts.service
  run "$VENV/bin/edge-tts" doctor
  run "$VENV/bin/edge-tts" status
  run "$ROOT/scripts/board_report.sh" --quick
}

check_jetpack
check_tensorrt
check_cuda
check_memory
check_power_mode
if [ "$n_faults" -gt 0 ]; then die "$n_faults faults: nothing was changed"; fi
if [ "$dry_run" = no ] && [ "$(id -u)" -ne 0 ]; then die "run this as root"; fi
install_service
install_cuda_packages
build_engines
start_and_measure
