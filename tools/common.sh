# What the scripts in this folder share: where the tree is, how it is configured and built, how a program of the
# build is found. Sourced by bash, never run. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
job_count=$(nproc 2>/dev/null || echo 2)

say ()
{
  printf '%s\n' "$*" >&2
}

die ()
{
  say "$(basename "$0"): $*"
  exit 1
}

# configure DIR OPTION...: sets the build folder DIR up, or again where it was set up with other options. Without options it
# stays as it is.
configure ()
{
  local dir=$1
  shift
  local wanted="CC=${CC:-} $*"
  if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "$top" "$@" >&2 || return 1
  elif [ $# -eq 0 ]; then
    return 0
  elif [ "$(cat "$dir/gantry-options" 2>/dev/null)" != "$wanted" ]; then
    meson setup --reconfigure "$dir" "$top" "$@" >&2 || return 1
  fi
  printf '%s\n' "$wanted" > "$dir/gantry-options"
}

# build DIR TARGET...: compiles; ninja's own lines go to standard error.
build ()
{
  local dir=$1
  shift
  ninja -C "$dir" -j "$job_count" "$@" >&2
}

# program DIR NAME: prints the path of an executable that the build folder holds, fails where there is none.
program ()
{
  local path
  path=$(find "$1" -type f -name "$2" -perm -u+x 2>/dev/null | head -n 1)
  [ -n "$path" ] && printf '%s\n' "$path"
}
