# The announcer on NVIDIA Jetson. Nothing here needs a GPU, CUDA or TensorRT while it is built:
# engines are built on the board, into the volume /var/lib/edge-tts (docs/jetson.md).
#
#   JetPack 5.1 (R35, Xavier NX)   nvcr.io/nvidia/l4t-tensorrt:r8.5.2-runtime   (the default)
#   JetPack 6   (R36, Orin)        nvcr.io/nvidia/l4t-tensorrt:r10.3.0-runtime
#   JetPack 7   (R38, Thor)        ubuntu:24.04, ONNX Runtime only
ARG BASE=nvcr.io/nvidia/l4t-tensorrt:r8.5.2-runtime

# hadolint ignore=DL3006
FROM ${BASE} AS system
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# What a base may lack: Python, its distutils, which pip needs before Python 3.10, and the system
# library for sound. Only then is the network used. Ubuntu keeps one version of each at a time.
# hadolint ignore=DL3008
RUN has_python() { \
        python3 -c 'import sys, venv; sys.version_info >= (3, 10) or __import__("distutils.cmd")'; \
    }; \
    has_sound() { [[ $(/sbin/ldconfig -p) == *libportaudio* ]]; }; \
    if ! has_python || ! has_sound; then \
        apt-get update \
        && apt-get install -y --no-install-recommends python3 libportaudio2 libasound2-plugins \
        && if ! has_python; then \
            apt-get install -y --no-install-recommends python3-distutils; \
        fi \
        && rm -rf /var/lib/apt/lists/*; \
    fi

FROM system AS build
# BUNDLE is made by scripts/make_offline_bundle.py for this base's Python.
ARG BUNDLE=bundle
COPY ${BUNDLE}/ /bundle/
WORKDIR /bundle
RUN sha256sum --quiet --check SHA256SUMS
# The bundle's pip, because a base may have neither pip nor the venv module's ensurepip. TensorRT's
# bindings are the system's, therefore its packages stay visible.
RUN python3 -m venv --without-pip --system-site-packages /opt/edge-tts/venv \
    && pip=$(echo wheels/pip-*.whl) \
    && /opt/edge-tts/venv/bin/python "$pip/pip" install --no-index --find-links wheels \
        --no-cache-dir edge-tts-device

FROM system
COPY --from=build /opt/edge-tts/venv /opt/edge-tts/venv
ENV PATH=/opt/edge-tts/venv/bin:$PATH \
    EDGE_TTS_VOICES_DIR=/var/lib/edge-tts/voices \
    XDG_RUNTIME_DIR=/run/edge-tts \
    LANG=C.UTF-8
# A named volume begins with what lies here, so the voice is in it and engines can join it.
RUN useradd --system --uid 990 --user-group --no-create-home --groups audio,video edge-tts \
    && mkdir -p /var/lib/edge-tts /run/edge-tts \
    && chown -R edge-tts:edge-tts /var/lib/edge-tts /run/edge-tts
COPY --from=build --chown=edge-tts:edge-tts /bundle/voices /var/lib/edge-tts/voices
VOLUME ["/var/lib/edge-tts"]
USER 990
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s --retries=3 \
    CMD ["/bin/bash", "-euo", "pipefail", "-c", "edge-tts status --prometheus | grep -x 'edge_tts_worker_ready 1'"]
CMD ["edge-tts", "service"]
