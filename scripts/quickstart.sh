#!/usr/bin/env bash
# Sets up this checkout on first use, then speaks. The second run does no set-up.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/quickstart.sh TEXT [option of `edge-tts speak` ...]

Makes a private .venv in this checkout, installs the package and its default voice, and speaks
TEXT. Where there is no sound device, the speech goes to edge-tts.wav in the current folder.

  EDGE_TTS_WHEELS=DIR   install from a folder of wheels, without a network
  EDGE_TTS_PYTHON=PATH  build the environment with this Python (3.8 or newer)
USAGE
}

[ $# -gt 0 ] || { usage >&2; exit 2; }
case "$1" in
  -h | --help) usage; exit 0 ;;
esac

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"

text=$1
shift
set_up run-time
exec "$VENV/bin/edge-tts" speak --fallback-file edge-tts.wav "$@" -- "$text"
