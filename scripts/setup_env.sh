# shellcheck shell=bash
# Sets up this checkout's private environment. Sourced by quickstart.sh and test.sh, after which
# `set_up run-time` or `set_up dev` brings everything that is missing and returns at once when
# nothing is. Every step may be interrupted and is done again next time: its stamp comes last.
#
#   EDGE_TTS_PYTHON  the Python to build the environment with (default: the first fit one found)
#   EDGE_TTS_WHEELS  folder of wheels to install from, for a machine without a network
#
# All messages go to stderr: stdout belongs to the command that runs afterwards.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=$ROOT/.venv
VENV_PYTHON=$VENV/bin/python
DEFAULT_VOICE=kokoro
OFFLINE_PIP=()
OFFLINE_VOICE=()
if [ -n "${EDGE_TTS_WHEELS:-}" ]; then
  EDGE_TTS_WHEELS=$(cd "$EDGE_TTS_WHEELS" && pwd) || exit 1
  OFFLINE_PIP=(--no-index --find-links "$EDGE_TTS_WHEELS")
  OFFLINE_VOICE=(--from "$EDGE_TTS_WHEELS")
fi

say() { printf '==> %s\n' "$*" >&2; }
die() { printf 'edge-tts: %s\n' "$*" >&2; exit 1; }

# --- System packages -------------------------------------------------------------------------

# Prints the word that lets apt run: nothing for root, sudo where it asks no password.
privilege() {
  if [ "$(id -u)" -eq 0 ]; then return 0; fi
  if sudo -n true 2>/dev/null; then echo sudo; return 0; fi
  return 1
}

# apt_install PACKAGE...: installs them where that is allowed; returns 1 where it is not.
apt_install() {
  local sudo
  command -v apt-get >/dev/null && sudo=$(privilege) || return 1
  say "installing system packages: $*"
  _apt_get "$sudo" "$@" || { $sudo apt-get -q update >&2 && _apt_get "$sudo" "$@"; }
}

_apt_get() {
  local sudo=$1
  shift
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get -q install -y --no-install-recommends "$@" >&2 </dev/null
}

# --- Python ----------------------------------------------------------------------------------

_is_fit_python() {
  "$1" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2])' 2>/dev/null
}

# EDGE_TTS_PYTHON is taken at its word; otherwise the first fit one.
find_python() {
  if [ -n "${EDGE_TTS_PYTHON:-}" ]; then
    _first_fit_python "$EDGE_TTS_PYTHON" \
      || die "EDGE_TTS_PYTHON=$EDGE_TTS_PYTHON is not Python 3.8 or newer"
    return 0
  fi
  _first_fit_python python3 python3.{13,12,11,10,9,8} && return 0
  apt_install python3 python3-venv && _first_fit_python python3 && return 0
  die "Python 3.8 or newer is missing; run: sudo apt-get install -y python3 python3-venv"
}

_first_fit_python() {
  local candidate
  for candidate in "$@"; do
    if _is_fit_python "$candidate"; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return 0
    fi
  done
  return 1
}

# make_venv PYTHON FOLDER: Debian and Ubuntu ship Python without its venv module.
make_venv() {
  local python=$1 folder=$2 package
  if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -m venv "$folder" >&2 && return 0
  fi
  package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
  if apt_install "$package"; then
    "$python" -m venv "$folder" >&2 && return 0
  fi
  if command -v virtualenv >/dev/null; then
    virtualenv --quiet --python "$python" "$folder" >&2 && return 0
  fi
  die "Python's venv module is missing; run: sudo apt-get install -y $package"
}

pip_install() {
  "$VENV_PYTHON" -m pip install --disable-pip-version-check --no-warn-script-location \
    ${OFFLINE_PIP[@]+"${OFFLINE_PIP[@]}"} "$@" >&2
}

# --- The steps -------------------------------------------------------------------------------

_install_portaudio() {
  "$VENV_PYTHON" -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library("portaudio"))' \
    && return 0
  apt_install libportaudio2 && return 0
  say "no sound until you run: sudo apt-get install -y libportaudio2"
}

# PyPI's `edge-tts` owns the same import name and command; the two overwrite each other.
_refuse_online_edge_tts() {
  compgen -G "$VENV/lib/python3.*/site-packages/edge_tts-*.dist-info" >/dev/null || return 0
  die "PyPI's edge-tts (Microsoft's online voices) is installed in $VENV and has the same" \
    "package and command name as this program. Run: $VENV_PYTHON -m pip uninstall -y edge-tts"
}

# What the environment was built from: a changed dependency or version changes the stamp.
_fingerprint() { cat "$ROOT/setup.py" "$ROOT/edge_tts/__init__.py" | sha256sum | cut -d' ' -f1; }

_is_current() { # STAMP FINGERPRINT
  [ -x "$VENV_PYTHON" ] && [ -r "$1" ] && [ "$(cat "$1")" = "$2" ]
}

_install_package() { # KIND
  local target=$ROOT
  [ "$1" = dev ] && target="${ROOT}[dev]"
  say "installing edge-tts and what it needs into $VENV"
  # Python 3.8's own pip is too old for today's wheel tags and for editable installs.
  pip_install 'pip>=21.3' 'setuptools>=61' wheel
  pip_install --no-build-isolation --editable "$target"
}

_set_up_package() { # KIND
  local fingerprint kind
  fingerprint=$(_fingerprint)
  _is_current "$VENV/edge-tts.$1.stamp" "$fingerprint" && return 0
  "$VENV_PYTHON" -m pip --version >/dev/null 2>&1 || _set_up_venv
  _install_portaudio
  _install_package "$1"
  for kind in run-time "$1"; do # the development environment holds the run-time one
    printf '%s\n' "$fingerprint" >"$VENV/edge-tts.$kind.stamp"
  done
}

_set_up_venv() {
  local python
  python=$(find_python)
  say "making a private environment with $("$python" --version)"
  rm -rf "${VENV:?}/bin" "${VENV:?}/lib"
  make_venv "$python" "$VENV"
}

_default_voice_version() {
  sed -n 's/^    version="\(.*\)",$/\1/p' "$ROOT/edge_tts/build/kokoro/prepare.py"
}

# A voice prepared by an older checkout lacks what this one reads; it is then installed anew.
_has_default_voice() {
  local folder version
  version=$(_default_voice_version)
  for folder in "${EDGE_TTS_VOICES_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/edge-tts/voices}" \
    /var/lib/edge-tts/voices; do
    grep -qsxF "  version: $version" "$folder/$DEFAULT_VOICE/voice.yaml" && return 0
  done
  return 1
}

_set_up_voice() {
  _has_default_voice && return 0
  say "installing the default voice ($DEFAULT_VOICE, about 62 MB to fetch)"
  "$VENV/bin/edge-tts" voices install "$DEFAULT_VOICE" \
    ${OFFLINE_VOICE[@]+"${OFFLINE_VOICE[@]}"} >&2
}

_is_set_up() { # KIND
  _is_current "$VENV/edge-tts.$1.stamp" "$(_fingerprint)" && _has_default_voice
}

# set_up run-time|dev
set_up() {
  _refuse_online_edge_tts
  _is_set_up "$1" && return 0
  mkdir -p "$VENV"
  # Two starts at the same time: the second waits and then finds everything done.
  exec 9>"$VENV/edge-tts.lock"
  flock 9
  _set_up_package "$1"
  _set_up_voice
  exec 9>&-
}
