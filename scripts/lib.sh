# What the scripts share: where the project lies, how progress is told, how missing Debian packages are installed.
# Sourced, never run. All of it writes to standard error, so that a script's standard output stays its own.
# shellcheck shell=bash

root_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cores=$(nproc 2>/dev/null || echo 2)

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "$*"; exit 1; }

# run_quiet TITLE COMMAND...: silent while it works; its whole output when it fails.
run_quiet() {
  local title=$1 log status=0
  shift
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    cat "$log" >&2
    say "$title failed with exit code $status (its output is above)"
  fi
  rm -f "$log"
  return "$status"
}

# run_counted TITLE COMMAND...: as run_quiet, with ninja's count of steps every ten seconds.
run_counted() {
  local title=$1 log status line shown=$((SECONDS - 8))
  shift
  log=$(mktemp)
  # All callers set pipefail: the pipeline fails when the command does.
  if "$@" 2>&1 </dev/null | while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [ $((SECONDS - shown)) -ge 10 ] && [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      say "$title: step ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
      shown=$SECONDS
    fi
  done; then status=0; else status=1; fi
  if [ "$status" -ne 0 ]; then
    grep -v '^\[[0-9]*/[0-9]*\]' "$log" >&2
    say "$title failed with exit code $status (its output is above)"
  fi
  rm -f "$log"
  return "$status"
}

# as_root COMMAND...: as root, or through sudo; fails where neither is to be had.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    return 1
  fi
}

# missing_packages required|optional: those of scripts/packages.txt that aren't installed, on one line.
missing_packages() {
  local name kind installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
  while read -r name kind; do
    case $name in '' | '#'*) continue ;; esac
    [ "${kind:-required}" = "$1" ] || continue
    grep -qxF "$name" <<<"$installed" || printf '%s ' "$name"
  done <"$root_dir/scripts/packages.txt"
}

# apt_install PACKAGES...: quiet unless it fails.
apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  run_quiet 'apt-get update' as_root apt-get update &&
    run_quiet "apt-get install $*" as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "$@"
}

# install_packages required|optional: the required packages; with `optional` also the optional ones, where possible.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian package manager here: scripts/packages.txt lists what has to be installed by hand"
    return 0
  fi
  local -a missing
  read -ra missing <<<"$(missing_packages required)"
  if [ "${#missing[@]}" -gt 0 ]; then
    say "installing ${missing[*]}"
    apt_install "${missing[@]}" || die "packages are missing; as root: apt-get install ${missing[*]}"
  fi
  [ "$1" = optional ] || return 0
  read -ra missing <<<"$(missing_packages optional)"
  if [ "${#missing[@]}" -gt 0 ]; then
    say "installing ${missing[*]}"
    apt_install "${missing[@]}" || say "skipped: the checks that need ${missing[*]}"
  fi
}

# build_preset PRESET [TARGET...]: configures once, then builds all or the targets with every core.
build_preset() {
  local preset=$1
  shift
  local -a options=()
  local name
  for name in "$@"; do options+=(--target "$name"); done
  cd "$root_dir" || return 1
  if [ ! -f "build/$preset/build.ninja" ]; then
    say "configuring build/$preset"
    local -a launcher=()
    if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
    run_quiet "cmake --preset $preset" cmake --preset "$preset" "${launcher[@]}" || return 1
  fi
  say "building build/$preset${*:+ ($*)}"
  # Objects are cached by their place in the project, so that another checkout finds them, too.
  CCACHE_BASEDIR=$root_dir CCACHE_NOHASHDIR=1 run_counted "the build in build/$preset" cmake --build "build/$preset" -j "$cores" "${options[@]}"
}
