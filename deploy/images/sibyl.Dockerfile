# The program `sibyl`: answers, model server, every step but train. From the repository's root:
#   docker build -f deploy/images/sibyl.Dockerfile -t REGISTRY/sibyl:0.1.0 .
# No SHELL, no heredoc, no mount: what builds images of the OCI format, as buildah does, takes it too.
ARG DEBIAN=debian:12
FROM ${DEBIAN} AS build
WORKDIR /sibyl
# What is fetched stays in its layers while only sources change.
COPY tools tools
RUN tools/setup packages node
COPY . .
RUN deploy/images/build-programs -DSIBYL_TRAINER=OFF

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
