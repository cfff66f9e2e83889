#!/bin/sh
# The browser that tests drive: one that is there, or Debian's.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
else
    echo "Browser tests need Chromium: install the package 'chromium' and run again." >&2
    exit 1
fi
