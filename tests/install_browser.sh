#!/bin/sh
# Makes sure that the tests have their three browsers: Chromium and Firefox with what drives them, and WebKit with a screen that
# nobody sees; and R, which reads what is downloaded of a survey. What is missing comes from Debian's packages; where that may not be, this says what to install.
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
# The same engine without windows takes a quarter of the time, and is of use only where all three are of one version. Debian has it.
quicker=""
have chromium-headless-shell || quicker="chromium chromium-driver chromium-headless-shell"
install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }
if [ -n "$missing$quicker" ] && have apt-get && [ "$(id -u)" = 0 ]; then
    apt-get update -qq || [ -z "$missing" ]
    # shellcheck disable=SC2086 # the names are separate words
    [ -z "$missing" ] || install $missing
    # shellcheck disable=SC2086
    [ -z "$quicker" ] || install $quicker 2>/dev/null || true
    exit 0
fi
[ -n "$missing" ] || exit 0
echo "The tests need programs that are not installed. On Debian or Ubuntu:" >&2
echo "    sudo apt-get install --no-install-recommends$missing" >&2
exit 1
