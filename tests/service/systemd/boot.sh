#!/usr/bin/env bash
# Boots a real systemd in a container, installs the service there without a network, and prints what
# check.py found. Needs root, systemd-nspawn and mmdebstrap.
#
#   usage: boot.sh WORK_DIR WHEELS_DIR VOICES_DIR
#
# WORK_DIR keeps the root file system for the next run; WHEELS_DIR holds edge_tts_device and what it
# needs for the distribution's Python.
set -euo pipefail

work=$1 wheels=$2 voices=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../../.." && pwd)
root=$work/root
group=/sys/fs/cgroup/memory/edge-tts-test

if [ ! -x "$root/lib/systemd/systemd" ]; then
  mmdebstrap -q --variant=minbase \
    --include=systemd,systemd-sysv,dbus,python3,python3-venv,procps,libportaudio2 bookworm "$root"
fi
rm -rf "$root"/opt/* "$root"/etc/edge-tts "$root"/var/{lib,cache}/edge-tts
mkdir -p "$root/opt/source" "$root/opt/wheels" "$root/opt/voices"
cp -R "$source"/{scripts,systemd,docs,edge_tts,setup.py,README.md} "$root/opt/source/"
cp "$wheels"/*.whl "$root/opt/wheels/"
cp -R "$voices"/. "$root/opt/voices/"
cp "$here/check.py" "$root/opt/check.py"

# A sound card that writes what it plays.
cat >"$root/etc/asound.conf" <<'ASOUND'
pcm.!default {
  type plug
  slave { pcm "heard" rate 48000 format S16_LE channels 2 }
  hint { show on description "heard" }
}
pcm.heard { type file slave.pcm "nul" file "/var/cache/edge-tts/heard.wav" format "wav" perm 0644 }
pcm.nul { type null }
ASOUND
cat >"$root/etc/systemd/system/check.service" <<'UNIT'
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /opt/check.py
ExecStopPost=/bin/systemctl poweroff --no-block
TimeoutStartSec=900
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sfn ../check.service "$root/etc/systemd/system/multi-user.target.wants/check.service"

# MemoryMax works only in a memory control group of the container's own (cgroup v1).
cat >"$root/opt/init" <<'INIT'
#!/bin/sh
mount -o remount,rw,bind /sys/fs/cgroup/memory || mount -o remount,rw /sys/fs/cgroup/memory
exec /lib/systemd/systemd
INIT
chmod +x "$root/opt/init"
start=(-b)
if [ -d /sys/fs/cgroup/memory ]; then
  mkdir -p "$group"
  start=(/opt/init)
fi
(
  if [ -d "$group" ]; then echo "$BASHPID" >"$group/cgroup.procs"; fi
  exec systemd-nspawn -q --keep-unit --register=no -D "$root" --private-network "${start[@]}"
) </dev/null >"$work/boot.log" 2>&1 || true
if [ -d "$group" ]; then find "$group" -depth -type d -exec rmdir {} \; || true; fi
cat "$root/opt/result.txt"
! grep -q '^FAILED' "$root/opt/result.txt"
