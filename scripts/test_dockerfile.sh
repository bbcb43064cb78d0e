#!/usr/bin/env bash
# Builds jetson.Dockerfile for arm64 under emulation on a stand-in for NVIDIA's base, then runs its
# command until its health check is satisfied. The last line says PASSED, FAILED or SKIPPED.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: scripts/test_dockerfile.sh [--work DIR]

  --work DIR  keep the root and the bundle here, so that the next run is quick (default: out/aarch64)

The stand-in is Debian 11, which has the C library of JetPack 5 and Python 3.9, without CUDA and
TensorRT. Needs root, a network, and the default voice; the image is built without a network.
EDGE_TTS_REQUIRE_AARCH64=1 makes a skip a failure.
USAGE
}

# shellcheck source=scripts/setup_env.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup_env.sh"
# shellcheck source=scripts/arm64_root.sh
. "$ROOT/scripts/arm64_root.sh"
SUITE=bullseye
BASE=localhost/stand-in:latest
IMAGE=localhost/edge-tts:latest
CONTAINER=edge-tts-test
BUILD_TIMEOUT_S=1000
HEALTH_TIMEOUT_S=400
while [ $# -gt 0 ]; do
  case "$1" in
    --work) work=${2:?--work needs a folder}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

# --- The stand-in and the image --------------------------------------------------------------

# Debian's own accounts, which its set-up would have made, and nothing of earlier tests.
make_base() {
  local scratch tree
  say "making the stand-in base"
  scratch=$("${buildah[@]}" from --arch arm64 scratch) || return 1
  tree=$("${buildah[@]}" mount "$scratch") || return 1
  tar -C "$work/$SUITE" -c --exclude=./{opt/site,root,proc,dev,media} . | tar -C "$tree" -x
  mkdir -p "$tree"/{proc,dev,sys,run,tmp,media,root}
  cp "$tree/usr/share/base-passwd/passwd.master" "$tree/etc/passwd"
  cp "$tree/usr/share/base-passwd/group.master" "$tree/etc/group"
  "${buildah[@]}" commit --quiet --rm "$scratch" "$BASE" >/dev/null
}

# The chroot isolation needs no container run time and works inside a container; it knows no network
# of its own, hence `unshare`.
build_image() {
  say "building the image"
  timeout "$BUILD_TIMEOUT_S" unshare --net "${buildah[@]}" bud --isolation chroot --arch arm64 \
    --pull-never --format docker --build-arg "BASE=$BASE" \
    --build-arg "BUNDLE=bundle-$(python_of "$SUITE")" --tag "$IMAGE" \
    --file "$ROOT/jetson.Dockerfile" "$work" >&2 </dev/null
}

# words KEY...: one value of the image's configuration, a list, one item per line.
words() {
  "${buildah[@]}" inspect --type image "$IMAGE" | "$VENV_PYTHON" -c '
import json, sys
value = json.load(sys.stdin)["Docker"]["config"]
for key in sys.argv[1:]:
    value = value[key]
print("\n".join(value))' "$@"
}

# --- The container ---------------------------------------------------------------------------

# in_container WORD...: as the image's user, with its environment and without a network.
in_container() {
  exec unshare --net "${buildah[@]}" run --isolation chroot --env QEMU_CPU=neoverse-n1 \
    --volume "$work/cpuinfo:/proc/cpuinfo:ro" "$CONTAINER" -- "$@" </dev/null
}

# Runs the image's own command and asks its own health check, until that is satisfied.
try_container() {
  local command health deadline_s=$((SECONDS + HEALTH_TIMEOUT_S))
  mapfile -t command < <(words Cmd)
  mapfile -t health < <(words Healthcheck Test)
  [ "${health[0]}" = CMD ] || { say "the health check is not given word by word"; return 1; }
  "${buildah[@]}" from --name "$CONTAINER" --pull-never "$IMAGE" >/dev/null
  say "running: ${command[*]}"
  (in_container "${command[@]}" >&2) &
  service=$!
  until (in_container "${health[@]:1}") >"$store/health" 2>&1; do
    kill -0 "$service" 2>/dev/null || { say "the command has ended"; return 1; }
    [ "$SECONDS" -lt "$deadline_s" ] || { (in_container edge-tts status) >&2; return 1; }
    sleep 2
  done
  say "healthy: $(cat "$store/health")"
  (in_container edge-tts status) >&2
}

stop_container() {
  [ -z "$service" ] || kill -TERM "$service" 2>/dev/null || true
  wait
  rm -rf "$store"
}

mkdir -p "$work"
work=$(cd "$work" && pwd)
store=$work/containers service=''
buildah=(buildah --root "$store/root" --runroot "$store/run" --storage-driver vfs)
if ready_for_emulation mmdebstrap buildah && make_bundle "$SUITE" && make_root "$SUITE"; then
  rm -rf "$store"
  mkdir -p "$store"
  trap stop_container EXIT
  make_base || die "FAILED dockerfile: no base"
  build_image || die "FAILED dockerfile: the image does not build"
  try_container || die "FAILED dockerfile: the container is not healthy"
  trap - EXIT
  stop_container
  say "PASSED dockerfile in $SECONDS s"
else
  say "SKIPPED dockerfile"
  [ -z "${EDGE_TTS_REQUIRE_AARCH64:-}" ] || exit 1
fi
