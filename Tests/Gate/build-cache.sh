#!/usr/bin/env bash
# Links .build to a folder that is kept, so that a new clone does not build dependencies again.
#
#   build-cache.sh FOLDER [FLAG ...]
#
# The folder below FOLDER is named by the compiler, the flags and the dependencies that Package.swift
# asks for; SwiftPM resolves them in each new clone, and builds again those with another version.
# Our own modules are compiled in each clone, because their paths differ. Folders of other compilers
# or flags are removed once nothing was built there for a week.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$1
shift
if [ -e .build ] && [ ! -L .build ]; then
    echo "$(pwd)/.build is a folder already: it stays as it is, without the cache"
    exit 0
fi
key=$({
    swift --version 2>/dev/null
    printf '%s\n' "$@"
    grep -oE '"https://[^)]*' Package.swift
} | sha256sum | cut -c 1-16)
mkdir -p "$cache/$key"
touch "$cache/$key"
find "$cache" -mindepth 1 -maxdepth 1 -type d -mtime +7 -exec rm -rf {} +
ln -sfn "$(cd "$cache/$key" && pwd -P)" .build
echo "building in $(readlink .build)"
