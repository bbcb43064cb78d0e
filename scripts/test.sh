#!/usr/bin/env bash
# Sets up the development environment, then runs every check. Stops at the first that fails.
set -euo pipefail

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
cd "$ROOT"

# What the tests marked `system` start: a real sound server and a shared library built on the spot.
SYSTEM_PACKAGES=(libportaudio2 pulseaudio pulseaudio-utils libasound2-plugins alsa-utils gcc libc6-dev)
EMULATION_TIMEOUT_S=1200

install_system_packages() {
  local missing=() package
  for package in "${SYSTEM_PACKAGES[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed \
      || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  apt_install "${missing[@]}" && return 0
  say "tests that need these are skipped until you run: sudo apt-get install -y ${missing[*]}"
}

# What the page of the HTTP side is opened with: 64 MB, and Debian's name for it, so on its own.
install_browser() {
  command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null && return 0
  apt_install chromium-headless-shell && return 0
  say "the tests of the web page are skipped until there is a chromium"
}

find_python38() {
  local candidate
  for candidate in python3.8 "$HOME"/.pyenv/versions/3.8*/bin/python3.8; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 8))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return 0
    fi
  done
  return 1
}

# Their programs come as wheels for x86-64 only.
lint_shell() {
  if [ ! -x "$VENV/bin/shellcheck" ] || [ ! -x "$VENV/bin/hadolint" ]; then
    say "SKIPPED: no shellcheck and hadolint for this machine"
    return 0
  fi
  say "shellcheck"
  find scripts tests -name '*.sh' -exec "$VENV/bin/shellcheck" --external-sources {} +
  say "hadolint"
  "$VENV/bin/hadolint" jetson.Dockerfile
}

# The real thing where it is to be had; ruff, mypy and vermin check for 3.8 everywhere.
check_python38() {
  local python fingerprint stamp=.venv38/edge-tts.stamp
  if ! python=$(find_python38); then
    say "SKIPPED: no Python 3.8 on this machine, so nothing was run with it"
    return 0
  fi
  say "Python 3.8: $python"
  fingerprint=$(_fingerprint)
  if [ "$(cat "$stamp" 2>/dev/null)" != "$fingerprint" ]; then
    make_venv "$python" .venv38
    VENV_PYTHON=.venv38/bin/python pip_install 'pip>=21.3' 'setuptools>=61' wheel
    VENV_PYTHON=.venv38/bin/python pip_install --no-build-isolation --editable '.[test]'
    printf '%s\n' "$fingerprint" >"$stamp"
  fi
  .venv38/bin/python -m pytest -p no:cacheprovider -m 'not voice and not system'
}

set_up dev
install_system_packages
install_browser
say "ruff check"
"$VENV/bin/ruff" check .
say "ruff format"
"$VENV/bin/ruff" format --check .
say "mypy"
"$VENV/bin/mypy"
say "vermin: syntax and library of Python 3.8"
"$VENV/bin/vermin" -t=3.8- --no-tips --violations edge_tts
lint_shell
check_python38
say "pytest"
"$VENV/bin/python" -m pytest "$@"
# Says SKIPPED, with the reason, where emulation is not to be had.
if [ $# -eq 0 ]; then timeout "$EMULATION_TIMEOUT_S" scripts/test_aarch64.sh; fi
