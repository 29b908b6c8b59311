#!/bin/sh
# Fetches the fonts that the pages are tested with into a folder of the tests' own: DejaVu, Noto and Roboto. Nothing is installed.
# Usage: tests/fetch_fonts.sh FOLDER
set -eu
folder=$1
packages="fonts-dejavu-core fonts-noto-core fonts-roboto-unhinted"
limited() { timeout 300 apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 "$@"; }
[ ! -e "$folder/.done" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "The tests need fonts. Unpack Debian's packages $packages into $folder, then create $folder/.done" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
# shellcheck disable=SC2086 # the names are separate words
limited download $packages 2>/dev/null || { limited update && limited download $packages; }
for package in *.deb; do
    dpkg-deb --extract "$package" .
done
rm ./*.deb
touch .done
