#!/bin/sh
# Makes the packages of the program that `make release` built, in .build/package:
#   subledger_VERSION_ARCH.deb, subledger-dbgsym_VERSION_ARCH.deb,
#   subledger-VERSION-linux-MACHINE.tar.gz, subledger-VERSION.spdx.json, SHA256SUMS
# The same program and commit give the same bytes.
set -eu
umask 022
cd "$(dirname "$0")/.."
sources=$PWD/.packaging
out=$PWD/.build/package
program=$PWD/.build/release/subledger
architecture=$(dpkg --print-architecture)

# Several builds of one version of the program are ordered by the times of their commits.
upstream=$("$program" --version)
commit=$(git rev-parse --short=8 HEAD)
if [ "$(git describe --tags --exact-match 2>/dev/null || true)" != "v$upstream" ]; then
    upstream=$upstream+$(TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd).$commit
fi
version=$upstream-1
maintainer=${SUBLEDGER_MAINTAINER:-$(git log -1 --format='%an <%ae>')}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

rm -rf "$out"
mkdir -p "$out/deb/DEBIAN" "$out/dbgsym/DEBIAN"
cd "$out"

# What `make install` installs, and nothing else is installed by both packages.
make -s -C "$sources/.." install DESTDIR="$out/deb" PREFIX=/usr
install -d -m 750 deb/etc/subledger
install -m 640 "$sources/subledger.json" "$sources/environment" deb/etc/subledger
doc=deb/usr/share/doc/subledger
python3 -B "$sources/contents.py" "$upstream" "subledger-$upstream.spdx.json" "$doc"

tarball=subledger-$upstream-linux-$(uname -m)
cp -a deb/usr "$tarball"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --format=gnu -c "$tarball" | gzip -9n > "$tarball.tar.gz"
rm -r "$tarball"

install -D -m 644 "$sources/lintian-overrides" deb/usr/share/lintian/overrides/subledger
# Debian has the text of this licence itself, and wants the rest compressed.
rm "$doc/Apache-2.0.txt"
{
    echo "subledger ($version) unstable; urgency=medium"
    echo
    echo "  * Built from commit $commit; the changes before it:"
    git -C "$sources" log -30 --format=%s | fold -s -w 72 | sed 's/^/    /; s/ *$//'
    echo
    echo " -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n > "$doc/changelog.Debian.gz"
gzip -9n deb/usr/share/man/man1/*.1

# The symbols, found by debuggers by the identity of the build.
installed=deb/usr/bin/subledger
identity=$(readelf -n "$installed" | sed -n 's/.*Build ID: //p')
symbols=dbgsym/usr/lib/debug/.build-id/$(echo "$identity" | cut -c 1-2)
install -d "$symbols" dbgsym/usr/share/doc
symbols=$symbols/$(echo "$identity" | cut -c 3-).debug
objcopy --only-keep-debug --compress-debug-sections "$program" "$symbols"
chmod 644 "$symbols"
objcopy --add-gnu-debuglink="$symbols" "$installed"
ln -s subledger dbgsym/usr/share/doc/subledger-dbgsym

mkdir debian
echo "Source: subledger" > debian/control
libraries=$(dpkg-shlibdeps -O "$installed" | sed 's/^shlibs:Depends=//')
rm -r debian

install -m 755 "$sources/postinst" "$sources/prerm" "$sources/postrm" deb/DEBIAN
(cd deb && find etc -type f -printf '/%p\n' | LC_ALL=C sort > DEBIAN/conffiles)

# Writes the control file of a folder and makes its package: folder, section, dependencies, text,
# and how hard to compress it.
build() {
    (cd "$1" && find usr -type f | LC_ALL=C sort | xargs md5sum > DEBIAN/md5sums)
    cat > "$1/DEBIAN/control" <<CONTROL
Package: $(basename "$1" | sed 's/^deb$/subledger/; s/^dbgsym$/subledger-dbgsym/')
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$1/usr" | cut -f 1)
Section: $2
Priority: optional
$3
Description: $4
CONTROL
    dpkg-deb --root-owner-group -Zxz "-z$5" --build "$1" . >/dev/null
}

build deb database "Depends: $libraries, adduser, tzdata
Recommends: postgresql (>= 15), ca-certificates, procps
Suggests: nginx | caddy, prometheus, subledger-dbgsym" \
"event-sourced ledger of App Store subscriptions
 Receives notifications of the App Store, verifies their signatures, and appends
 what is new in them to a PostgreSQL log that is never edited. It answers who
 has access, and why, and what the answer was at any earlier time." 6
build dbgsym debug "Depends: subledger (= $version)
Build-Ids: $identity" \
"debug symbols for subledger
 For debuggers, and for the names of functions in a backtrace." 1
rm -r deb dbgsym

sha256sum -- * > SHA256SUMS
ls -l
