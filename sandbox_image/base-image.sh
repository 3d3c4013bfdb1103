#!/bin/sh
# Make the base image of the sandbox from Debian packages, for machines where no image registry can be
# reached: a root filesystem with nothing but the essential packages, Python and the C++ library that packages such as
# numpy are linked to, imported as an image.
#
#   sandbox_image/base-image.sh [TAG [PACKAGE…]]      (as root; needs mmdebstrap and a running Docker engine)
#
# Afterwards `kolmo sandbox build` finds it by itself: `kolmo-base:bookworm` is the second base it tries. For C++ and
# JavaScript it is sandbox_image/base-image.sh kolmo-base-native:bookworm g++ nodejs
set -eu

tag="${1:-kolmo-base:bookworm}"
suite="${tag##*:}"
[ $# -gt 0 ] && shift
more="$(printf ',%s' "$@")"
[ $# -gt 0 ] || more=""
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT

command -v mmdebstrap >/dev/null || { echo "base-image: mmdebstrap is missing (apt-get install mmdebstrap)" >&2; exit 4; }
docker info >/dev/null 2>&1 || { echo "base-image: no Docker engine answers" >&2; exit 4; }

# The documentation, translations and package lists would be a free dictionary for the programs, and weigh more
# than Python: leave them out.
mmdebstrap --quiet --variant=essential --include=python3-minimal,libpython3-stdlib,python3,libstdc++6"$more" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    "$suite" "$root/root.tar"
docker import --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' "$root/root.tar" "$tag" >/dev/null
echo "base-image: $tag is ready" >&2
