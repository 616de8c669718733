# The programs `sibyl` and `sibyl-trainer` with LibTorch, for the step train. From the repository's root:
#   docker build -f deploy/images/trainer.Dockerfile --build-arg VARIANT=cuda13 -t REGISTRY/sibyl-trainer:0.1.0-cuda13 .
#
# VARIANT   LibTorch                needs
# cpu       2.15.0                  any x86-64 machine
# cuda13    2.15.0, CUDA 13.2       driver 580 or newer; T4 (compute capability 7.5) or newer
# cuda12    2.10.0, CUDA 12.8       driver 525 or newer; V100 (7.0) or newer
ARG DEBIAN=debian:12
FROM ${DEBIAN} AS build
ARG VARIANT=cpu
WORKDIR /sibyl
# What is fetched, gigabytes for a GPU, stays in its layers while only sources change.
COPY tools tools
RUN tools/setup packages node
RUN case "$VARIANT" in \
      cpu) tools/setup torch ;; \
      cuda13) SIBYL_GPU_LIBRARIES=yes tools/setup torch ;; \
      cuda12) tools/setup torch-cuda12 ;; \
      *) echo "VARIANT is '$VARIANT'; it is cpu, cuda13 or cuda12" >&2; exit 64 ;; \
    esac
COPY . .
RUN release=2.15.0; if [ "$VARIANT" = cuda12 ]; then release=2.10.0; fi; \
    deploy/images/build-programs -DSIBYL_TORCH_ROOT="$HOME/.cache/sibyl/torch-$release"

FROM ${DEBIAN}-slim
COPY --from=build /opt/sibyl /opt/sibyl
RUN apt-get update -qq \
 && xargs -a /opt/sibyl/packages apt-get install -y -qq --no-install-recommends ca-certificates poppler-utils \
 && rm -rf /var/lib/apt/lists/*
# The cluster's NVIDIA runtime brings the driver's own libraries where a GPU is given.
ENV PATH=/opt/sibyl/bin:/usr/bin:/bin HOME=/tmp NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 10001:10001
ENTRYPOINT ["sibyl"]
