# shellcheck shell=bash
# Emulated Debian arm64 roots and the bundles that go into them. Sourced by test_aarch64.sh and
# test_dockerfile.sh after setup_env.sh.

: "${ROOT:?source setup_env.sh first}"
work=$ROOT/out/aarch64 # roots and bundles stay here, so that the next run is quick
n_skipped=0

# Without the security suite, whose packages leave the mirrors when a release grows old.
MIRROR=http://deb.debian.org/debian
ROOT_TIMEOUT_S=400 # a minute when the machine has nothing else to do
# The last line is for a container's base, which makes an account. pip comes with the bundle; before
# Python 3.10 it needs distutils, which Debian packs apart.
INCLUDE=base-files,python3,libportaudio2,libasound2-plugins
INCLUDE=$INCLUDE,dash,bash,coreutils,libc-bin,netbase
INCLUDE=$INCLUDE,base-passwd,passwd,grep,sed,tar

skip() {
  say "SKIPPED: $*"
  n_skipped=$((n_skipped + 1))
}

# ready_for_emulation PROGRAM[:PACKAGE]...: returns 1, and says why, where emulation is not to be had.
ready_for_emulation() {
  if [ "$(id -u)" -ne 0 ]; then skip "not root"; return 1; fi
  unshare --mount --net true 2>/dev/null || { skip "no namespaces in this container"; return 1; }
  install_missing qemu-aarch64-static:qemu-user-static "$@" || return 1
  register_emulator
}

# install_missing COMMAND[:PACKAGE]...
install_missing() {
  local item packages=()
  for item in "$@"; do
    command -v "${item%:*}" >/dev/null || packages+=("${item#*:}")
  done
  [ ${#packages[@]} -eq 0 ] && return 0
  apt_install "${packages[@]}" && return 0
  skip "cannot install ${packages[*]}"
  return 1
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

python_of() { # SUITE
  case "$1" in
    bullseye) echo 3.9 ;;
    bookworm) echo 3.11 ;;
    trixie) echo 3.13 ;;
    *) die "unknown suite $1; known: bullseye bookworm trixie" ;;
  esac
}

distutils_of() { # SUITE
  if [ "$1" = bullseye ]; then echo ,python3-distutils; fi
}

# A root that cannot be fetched from a mirror that answers is a failure, not a skip.
make_root() { # SUITE
  local root=$work/$1
  write_cpuinfo
  [ -e "$root.done" ] && return 0
  answers "$MIRROR/dists/$1/Release" || { skip "$1: Debian's mirror does not answer"; return 1; }
  say "fetching Debian $1 for arm64"
  rm -rf "$root"
  # `extract` runs nothing under emulation; a full set-up takes over ten minutes there.
  timeout "$ROOT_TIMEOUT_S" mmdebstrap -q --variant=extract --arch=arm64 \
    --include="$INCLUDE$(distutils_of "$1")" "$1" "$root" "deb $MIRROR $1 main" >&2 </dev/null \
    || die "FAILED: no Debian $1 for arm64 in $ROOT_TIMEOUT_S s"
  inside "$1" /sbin/ldconfig
  touch "$root.done"
}

make_bundle() { # SUITE
  local python
  python=$(python_of "$1")
  "$VENV_PYTHON" "$ROOT/scripts/make_offline_bundle.py" --machine aarch64 --python "$python" \
    --out "$work/bundle-$python" >&2 && return 0
  "$VENV_PYTHON" -m pip download --quiet --no-deps --dest "$work/probe" wheel >&2 \
    && die "FAILED: no bundle for Python $python"
  skip "$1: the package index does not answer"
  return 1
}

answers() { # URL
  "$VENV_PYTHON" -c 'import sys, urllib.request as r; r.urlopen(sys.argv[1], timeout=20)' "$1" \
    2>/dev/null
}

# ONNX Runtime reads the processor's features here and must not find the host's; it looks up every
# processor that /sys names.
write_cpuinfo() {
  local n
  for ((n = 0; n < $(nproc --all); n++)); do
    cat <<CPUINFO
processor	: $n
BogoMIPS	: 108.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid asimdrdm atomics fphp asimdhp lrcpc dcpop asimddp
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

CPUINFO
  done >"$work/cpuinfo"
}

# inside SUITE COMMAND...: in the root, without a network, in mounts of its own. Under QEMU_CPU=max
# the default voice comes out wrong; neoverse-n1 matches the processor described above.
inside() {
  local suite=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --net --propagation private bash -euc '
    root=$1 cpuinfo=$2 bundle=$3; shift 3
    mkdir -p "$root"/proc "$root"/sys "$root"/dev "$root"/media
    mount --bind /sys "$root/sys"
    mount -t proc proc "$root/proc"; mount --bind "$cpuinfo" "$root/proc/cpuinfo"
    mount --rbind /dev "$root/dev"
    if [ -d "$bundle" ]; then mount --bind "$bundle" "$root/media"; fi
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 QEMU_CPU=neoverse-n1 \
      PYTHONPATH=/opt/site EDGE_TTS_VOICES_DIR=/media/voices "$(command -v chroot)" "$root" "$@"
  ' _ "$work/$suite" "$work/cpuinfo" "$work/bundle-$(python_of "$suite")" "$@" </dev/null
}
