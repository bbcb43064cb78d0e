# The announcer on NVIDIA Jetson. Nothing here needs a GPU, CUDA or TensorRT while it is built:
# engines are built on the board, into the volume /var/lib/edge-tts (docs/jetson.md).
#
#   JetPack 5.1 (R35, Xavier NX)   nvcr.io/nvidia/l4t-tensorrt:r8.5.2-runtime   (the default)
#   JetPack 6   (R36, Orin)        nvcr.io/nvidia/l4t-tensorrt:r10.3.0-runtime
#   JetPack 7   (R38, Thor)        ubuntu:24.04, ONNX Runtime only
ARG BASE=nvcr.io/nvidia/l4t-tensorrt:r8.5.2-runtime

# hadolint ignore=DL3006
FROM ${BASE} AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# BUNDLE is made by scripts/make_offline_bundle.py for this base's Python; no network is used.
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

# hadolint ignore=DL3006
FROM ${BASE}
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
COPY --from=build /opt/edge-tts/venv /opt/edge-tts/venv
# The system library for sound, unless the base brings it. Ubuntu keeps one version at a time.
# hadolint ignore=DL3008
RUN if ! /sbin/ldconfig -p | grep -q libportaudio; then \
        apt-get update && apt-get install -y --no-install-recommends \
            libportaudio2 libasound2-plugins \
        && rm -rf /var/lib/apt/lists/*; \
    fi
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
    CMD ["edge-tts", "status"]
CMD ["edge-tts", "service"]
