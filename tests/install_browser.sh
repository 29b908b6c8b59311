#!/bin/sh
# Makes sure that the tests have their three browsers: Chromium and Firefox with what drives them, and WebKit with a screen that
# nobody sees; R, which reads what is downloaded of a survey, and the libraries that lay out a PDF. What is missing comes from Debian's packages; where that may not be, this says what to install.
# No step waits for ever: apt gives up on a silent connection and tries again, and each of its runs has a limit.
set -eu
have() { command -v "$1" >/dev/null 2>&1; }
missing=""
have chromedriver && { have chromium || have chromium-browser || have google-chrome; } || missing="$missing chromium chromium-driver"
have firefox-esr || have firefox || missing="$missing firefox-esr"
have WebKitWebDriver || missing="$missing webkit2gtk-driver"
have Xvfb || missing="$missing xvfb"
/usr/bin/python3 -c 'import gi; gi.require_version("WebKit2", "4.1")' 2>/dev/null || missing="$missing python3-gi gir1.2-webkit2-4.1"
have Rscript || missing="$missing r-base-core"
[ -d /usr/lib/R/site-library/haven ] || missing="$missing r-cran-haven"
/usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libpangoft2-1.0.so.0"); ctypes.CDLL("libharfbuzz-subset.so.0")' 2>/dev/null ||
    missing="$missing libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core"
# The same engine without windows takes a quarter of the time, and is of use only where all three are of one version. Debian has it.
quicker=""
have chromium-headless-shell || quicker="chromium chromium-driver chromium-headless-shell"
apt() { # seconds, what to do
    limit=${DENIABLE_APT_SECONDS:-$1}
    shift
    DEBIAN_FRONTEND=noninteractive timeout -k 10 "$limit" apt-get -qq -o Acquire::Retries=3 -o Acquire::http::Timeout=30 \
        -o Acquire::https::Timeout=30 -o DPkg::Lock::Timeout=120 "$@" </dev/null >/dev/null
}
update() { apt 300 update; }
install() { apt 1200 install -y --no-install-recommends "$@"; }
twice() { "$@" || { echo "apt-get: once more: $*" >&2 && "$@"; }; }
# shellcheck disable=SC2086 # the names are separate words
if [ -n "$missing$quicker" ] && have apt-get && [ "$(id -u)" = 0 ]; then
    if [ -z "$missing" ]; then
        { update && install $quicker; } 2>/dev/null || true
        exit 0
    fi
    twice update || echo "The lists of packages could not be renewed: those that are here have to do." >&2
    if twice install $missing; then
        [ -z "$quicker" ] || install $quicker 2>/dev/null || true
        exit 0
    fi
fi
[ -n "$missing" ] || exit 0
echo "The tests need programs that are not installed. On Debian or Ubuntu:" >&2
echo "    sudo apt-get install --no-install-recommends$missing" >&2
exit 1
