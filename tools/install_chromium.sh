#!/bin/sh
# The browser test of the TensorBoard tab needs Chromium. `make test` calls this: where
# it may (root, on Debian or Ubuntu) it installs it, else it says what to do. The tests
# go on either way: without Chromium that one is skipped, or fails where CI=true.
set -u

if command -v chromium >/dev/null; then
    exit 0
fi

say() {
    echo "------------------------------------------------------------------------" >&2
    echo "Chromium not found on PATH: the browser test of the tab will not run." >&2
    echo "$1" >&2
    echo "------------------------------------------------------------------------" >&2
}

if ! command -v apt-get >/dev/null; then
    say "Install it in the way of this system, so that 'chromium' starts it."
elif [ "$(id -u)" -ne 0 ]; then
    say "Install it: sudo apt-get install --no-install-recommends chromium"
else
    echo "Installing Chromium for the browser test of the tab"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -qq update && apt-get -qq install --no-install-recommends chromium; } \
        >/dev/null || say "apt-get could not install it; what it said stands above."
fi
