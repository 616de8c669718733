# The program `sibyl`: answers, model server, every step but train. From the repository's root:
#   docker build -f deploy/images/sibyl.Dockerfile -t REGISTRY/sibyl:0.1.0 .
ARG DEBIAN=debian:12
FROM ${DEBIAN} AS build
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
WORKDIR /sibyl
COPY . .
RUN tools/setup packages node
RUN . tools/common.sh \
 && configure release -DSIBYL_TESTS=OFF -DSIBYL_BENCH=OFF -DSIBYL_TRAINER=OFF \
 && cmake --build --preset release -j "$jobs" \
 && cmake --install build/release --prefix /opt/sibyl --strip
RUN deploy/images/runtime-packages /opt/sibyl/bin/sibyl > /opt/sibyl/packages

FROM ${DEBIAN}-slim
COPY --from=build /opt/sibyl /opt/sibyl
RUN apt-get update -qq \
 && xargs -a /opt/sibyl/packages apt-get install -y -qq --no-install-recommends ca-certificates poppler-utils \
 && rm -rf /var/lib/apt/lists/*
ENV PATH=/opt/sibyl/bin:/usr/bin:/bin HOME=/tmp SIBYL_DATA=/data
# Any user id works, and nothing but /data and /tmp is ever written: run it with --read-only --tmpfs /tmp.
RUN mkdir /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
ENTRYPOINT ["sibyl"]
