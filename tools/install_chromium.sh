#!/bin/sh
# The browser test of the TensorBoard tab needs Chromium. `make test` calls this script.
# As root on Debian or Ubuntu it installs Chromium; elsewhere it prints what to do. The
# other tests run in both cases. Without Chromium the browser test is skipped, or fails
# if CI=true.
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
    say "Install it with your package manager, so that 'chromium' starts it."
elif [ "$(id -u)" -ne 0 ]; then
    say "Install it: sudo apt-get install --no-install-recommends chromium"
else
    echo "Installing Chromium for the browser test of the tab"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -qq update && apt-get -qq install --no-install-recommends chromium; } \
        >/dev/null || say "apt-get could not install it; see its output above."
fi
