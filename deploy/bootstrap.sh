#!/bin/sh
# Installs what a fresh machine lacks to build and run schedrig, and says why.
#   deploy/bootstrap.sh build    what the build needs: C library headers (hwloc), a C compiler
#   deploy/bootstrap.sh run      what the quickstart likes to have: rt-tests (the builtin serves where it is not to be had)
#   deploy/bootstrap.sh test     what the tests use: iproute2 for network namespaces
set -eu
what=${1:-build}

missing() { # prints the packages among its arguments that are not installed
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s ' "$package"
  done
}

install() { # package...: installs, as root or through sudo, or says what to run
  [ $# -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ]; then as_root=""; elif command -v sudo >/dev/null 2>&1; then as_root=sudo; else
    echo "bootstrap: needs root to install: $*" >&2
    echo "bootstrap: run as root: apt-get install --no-install-recommends $*" >&2
    return 1
  fi
  echo "bootstrap: installing $* ($what), which needs root: ${as_root:+$as_root }apt-get install $*"
  $as_root apt-get -qq update
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "bootstrap: not a Debian system; install hwloc (2.8 or newer) with headers, pkg-config and a C compiler by hand" >&2
  pkg-config --exists hwloc || exit 1
  exit 0
fi

case $what in
build)
  command -v cargo >/dev/null 2>&1 || { echo "bootstrap: no Rust toolchain: install one (rustup) first" >&2; exit 1; }
  # shellcheck disable=SC2046
  install $(missing libhwloc-dev libudev-dev pkg-config gcc libc6-dev)
  ;;
run)
  # Optional: without it the builtin hackbench is used, and the table says so.
  # shellcheck disable=SC2046
  install $(missing rt-tests) || echo "bootstrap: going on without rt-tests" >&2
  ;;
test)
  # shellcheck disable=SC2046
  install $(missing iproute2 rt-tests)
  ;;
*)
  echo "usage: deploy/bootstrap.sh build|run|test" >&2
  exit 2
  ;;
esac
