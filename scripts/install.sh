#!/usr/bin/env bash
# Installs the announcer as a system service, or removes it. May be run any number of times.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/install.sh [--wheels DIR] [--voices DIR] [--no-start]
       scripts/install.sh --uninstall [--purge]

Sets up /opt/edge-tts, the user and group edge-tts, the units, a default configuration and the
default voice, and starts the service.

  --wheels DIR   install from a folder of wheels (edge_tts_device, what it needs, and the voice's
                 packages) instead of from this checkout and the network
  --voices DIR   copy the voices of this folder instead of preparing the default voice
  --no-start     do not start the service now
  --uninstall    remove the program, the units and the user; keep configuration and voices
  --purge        with --uninstall: remove configuration, voices and prompts as well

  EDGE_TTS_PYTHON=PATH  build the environment with this Python (3.8 or newer)
USAGE
}

PREFIX=/opt/edge-tts
UNITS=/etc/systemd/system
CONFIG=/etc/edge-tts
STATE=/var/lib/edge-tts
CACHE=/var/cache/edge-tts
COMMAND=/usr/local/bin/edge-tts

wheels='' voices='' start=yes action=install purge=no
while [ $# -gt 0 ]; do
  case "$1" in
    --wheels) wheels=${2:?--wheels needs a folder}; shift ;;
    --voices) voices=${2:?--voices needs a folder}; shift ;;
    --no-start) start=no ;;
    --uninstall) action=uninstall ;;
    --purge) purge=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

if [ -n "$wheels" ]; then export EDGE_TTS_WHEELS=$wheels; fi
# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
VENV=$PREFIX/venv
VENV_PYTHON=$VENV/bin/python
export EDGE_TTS_VOICES_DIR=$STATE/voices

has_systemd() { [ -d /run/systemd/system ]; }

# --- Install ---------------------------------------------------------------------------------

install_program() {
  local python
  if ! "$VENV_PYTHON" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    say "making $VENV with $("$python" --version)"
    rm -rf "$VENV"
    mkdir -p "$PREFIX"
    make_venv "$python" "$VENV"
  fi
  _install_portaudio
  say "installing edge-tts into $VENV"
  if [ -n "$wheels" ]; then
    pip_install --upgrade edge-tts-device
  else
    pip_install --upgrade 'pip>=21.3' 'setuptools>=61' wheel
    pip_install --upgrade "$ROOT"
  fi
  mkdir -p "$PREFIX/docs"
  cp "$ROOT"/docs/*.md "$PREFIX/docs/"
  if [ ! -e "$COMMAND" ] || [ -L "$COMMAND" ]; then ln -sfn "$VENV/bin/edge-tts" "$COMMAND"; fi
}

install_account() {
  install -D -m 644 "$ROOT/systemd/edge-tts.sysusers" /usr/lib/sysusers.d/edge-tts.conf
  install -D -m 644 "$ROOT/systemd/edge-tts.tmpfiles" /usr/lib/tmpfiles.d/edge-tts.conf
  systemd-sysusers edge-tts.conf
  systemd-tmpfiles --create edge-tts.conf
}

install_voices() {
  if [ -z "$voices" ]; then
    _set_up_voice
  else
    say "copying the voices of $voices"
    cp -R "$voices"/. "$EDGE_TTS_VOICES_DIR/"
  fi
  # The service reads voices and must not be able to change them.
  chown -R root:root "$EDGE_TTS_VOICES_DIR"
  chmod -R u=rwX,go=rX "$EDGE_TTS_VOICES_DIR"
}

install_config() {
  mkdir -p "$CONFIG"
  if [ -e "$CONFIG/config.yaml" ]; then return 0; fi
  say "writing $CONFIG/config.yaml"
  cat >"$CONFIG/config.yaml" <<'CONFIG'
# Configuration of edge_tts; every key is explained in /opt/edge-tts/docs/config.md.
#
# device: name of the sound device, see `edge-tts devices`
# speaker: af_heart
# volume: 1.0
CONFIG
  chmod 644 "$CONFIG/config.yaml"
}

install_units() {
  install -D -m 644 "$ROOT/systemd/edge-tts.service" "$UNITS/edge-tts.service"
  install -D -m 644 "$ROOT/systemd/edge-tts.socket" "$UNITS/edge-tts.socket"
  if [ -e /dev/nvmap ]; then
    install -D -m 644 "$ROOT/systemd/edge-tts.service.d/jetson.conf" \
      "$UNITS/edge-tts.service.d/jetson.conf"
  fi
  if has_systemd; then systemctl daemon-reload; fi
  systemctl enable edge-tts.socket edge-tts.service
}

start_service() {
  if ! has_systemd || [ "$start" = no ]; then
    say "installed; start it with: systemctl start edge-tts"
    return 0
  fi
  # systemd does not let go of a socket whose service runs.
  systemctl stop edge-tts.service
  systemctl restart edge-tts.socket
  systemctl start edge-tts.service
  say "running; try: edge-tts speak 'Ready.'"
}

# --- Uninstall -------------------------------------------------------------------------------

uninstall() {
  if has_systemd; then
    systemctl disable --now edge-tts.service edge-tts.socket 2>/dev/null || true
  fi
  rm -rf "$UNITS/edge-tts.service.d" "$PREFIX"
  rm -f "$UNITS/edge-tts.service" "$UNITS/edge-tts.socket" \
    "$UNITS/multi-user.target.wants/edge-tts.service" \
    "$UNITS/sockets.target.wants/edge-tts.socket" \
    /usr/lib/sysusers.d/edge-tts.conf /usr/lib/tmpfiles.d/edge-tts.conf
  if [ -L "$COMMAND" ]; then rm -f "$COMMAND"; fi
  if has_systemd; then systemctl daemon-reload; fi
  rm -rf /run/edge-tts
  if [ "$purge" = yes ]; then rm -rf "$CONFIG" "$STATE" "$CACHE"; fi
  # Files that are kept belong to root or to this user; without the account nobody owns them.
  if [ "$purge" = yes ] && getent passwd edge-tts >/dev/null; then userdel edge-tts; fi
  say "removed"
}

if [ "$(id -u)" -ne 0 ]; then die "run this as root: sudo scripts/install.sh"; fi
if [ "$action" = uninstall ]; then
  uninstall
  exit 0
fi
umask 022
install_program
install_account
install_voices
install_config
install_units
start_service
