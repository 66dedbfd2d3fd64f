#!/bin/sh
# Makes a container image of the package in .build/package, as an OCI layout in
# .build/package/image, with the tag `subledger`. As root on Debian: it installs what it needs.
set -eu
cd "$(dirname "$0")/../.build/package"
for tool in mmdebstrap umoci; do
    command -v $tool >/dev/null || apt-get install -y -qq --no-install-recommends $tool
done
deb=$(echo subledger_*.deb)
version=$(dpkg-deb -f "$deb" Version)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
root=$(mktemp)
trap 'rm -f "$root"' EXIT
rm -rf image

# Debian's essential packages, without apt, and what the package needs, but nothing to read.
needed=$(dpkg-deb -f "$deb" Depends | sed 's/ *([^)]*)//g; s/ //g')
mmdebstrap --quiet --variant=essential --include="$needed,ca-certificates" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-include=/usr/share/doc/subledger/NOTICE' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook="copy-in $deb /tmp" \
    --customize-hook="chroot \"\$1\" sh -c 'dpkg -i /tmp/*.deb && rm /tmp/*.deb'" \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/log/* "$1"/var/cache/*/*' \
    --customize-hook='grep ^subledger: "$1/etc/passwd" | cut -d : -f 3,4 > user' \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root.tar"

umoci init --layout image
umoci new --image image:subledger
umoci raw add-layer --image image:subledger --history.created="$created" "$root.tar"
umoci config --image image:subledger --created="$created" --history.created="$created" \
    --config.user="$(cat user)" --config.workingdir=/var/lib/subledger \
    --config.entrypoint=/usr/bin/subledger --config.cmd=serve \
    --config.env=SUBLEDGER_SERVE_HOST=0.0.0.0 --config.exposedports=8080/tcp \
    --config.volume=/var/lib/subledger \
    --config.label="org.opencontainers.image.version=$version" \
    --config.label=org.opencontainers.image.title=subledger
umoci gc --layout image
rm -f "$root.tar" user
du -sh image
