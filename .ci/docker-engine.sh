#!/bin/sh
# Get a Docker engine and a base image on a bare Debian machine: install what is missing, start dockerd when no
# engine answers, make the base image when it is not there. Run as root; running it twice changes nothing.
set -eu

here="$(cd "$(dirname "$0")/.." && pwd)"
log="${KOLMO_DOCKERD_LOG:-/tmp/dockerd.log}"
export DEBIAN_FRONTEND=noninteractive DOCKER_BUILDKIT=0

missing=""
command -v dockerd >/dev/null || missing="docker.io"
command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
if [ -n "$missing" ]; then
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of packages
    apt-get install -y -qq --no-install-recommends $missing ca-certificates iptables cgroupfs-mount
fi

if ! docker info >/dev/null 2>&1; then
    # Where no init system has done it, the control groups are mounted first; the limits depend on them.
    if ! mountpoint -q /sys/fs/cgroup && command -v cgroupfs-mount >/dev/null; then cgroupfs-mount; fi
    # What a killed engine leaves behind: by now its process ids may be somebody else's, and a new dockerd would wait
    # for a containerd that is not there.
    rm -f /var/run/docker.pid
    pidof containerd >/dev/null || rm -rf /var/run/docker/containerd
    nohup setsid dockerd >"$log" 2>&1 &
    tries=0
    until docker info >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -ge 60 ]; then
            echo "docker-engine: dockerd does not answer after 60 s; the end of $log:" >&2
            tail -n 20 "$log" >&2
            exit 4
        fi
        sleep 1
    done
fi

docker image inspect kolmo-base:bookworm >/dev/null 2>&1 || "$here/sandbox_image/base-image.sh" kolmo-base:bookworm
echo "docker-engine: $(docker version --format '{{.Server.Version}}') answers, kolmo-base:bookworm is there" >&2
