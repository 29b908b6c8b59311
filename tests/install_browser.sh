#!/bin/sh
# Makes sure that the tests have a browser: one that is there, else Debian's packages, else the one
# that Selenium downloads by itself when the first test asks for it.
set -eu
have() { command -v "$1" >/dev/null 2>&1; }
if have chromedriver && { have chromium || have chromium-browser || have google-chrome; }; then
    exit 0
fi
if have apt-get && [ "$(id -u)" = 0 ] && apt-get update -qq && apt-cache show chromium-driver >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null
    exit 0
fi
echo "No browser with its driver is installed; Selenium will look for one and may download it."
