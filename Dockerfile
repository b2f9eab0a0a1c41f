# The service alone, without MongoDB: set WAYLINK_MONGODB_URI (see compose.yaml and docs/operations.md).
ARG PYTHON=3.11

FROM docker.io/library/python:${PYTHON}-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/venv
# Dependencies first: this layer stays as long as the lock does.
# geoip2fast comes as source only; it is built with the setuptools of the lock, not with the newest one.
COPY deploy/build.lock deploy/requirements.lock /tmp/
RUN /opt/venv/bin/pip install --require-hashes --only-binary :all: -r /tmp/build.lock \
 && /opt/venv/bin/pip install --require-hashes --only-binary :all: --no-binary geoip2fast \
    --no-build-isolation -r /tmp/requirements.lock
WORKDIR /opt/waylink
COPY pyproject.toml README.md LICENSE ./
COPY backend backend
COPY demo_site demo_site
COPY sdk_dist sdk_dist
COPY app_sdk_dist app_sdk_dist
RUN /opt/venv/bin/pip install --no-deps --no-build-isolation --editable . \
 && /opt/venv/bin/python -m compileall -q backend \
 && /opt/venv/bin/pip uninstall --quiet --yes setuptools uv pip

FROM docker.io/library/python:${PYTHON}-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --create-home waylink
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/waylink /opt/waylink
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    WAYLINK_HOST=0.0.0.0 \
    WAYLINK_PORT=8080 \
    WAYLINK_DATA_DIR=/data
WORKDIR /data
USER 10001
# Clicks that are not in MongoDB yet: keep it.
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ['WAYLINK_PORT'] + '/healthz', timeout=4)"]
ENTRYPOINT ["waylink"]
CMD ["serve"]
