# What ./test, ./demo and tools/check share: where things are, how the release build is made.
# Sourced, with the repository as working directory.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/sibyl"

# Debian 12's own Node is too old for the page's tools; tools/setup node brings one that fits.
if [ -x "$cache/node-22.20.0/bin/node" ]; then PATH="$cache/node-22.20.0/bin:$PATH"; fi

jobs="${SIBYL_JOBS:-$(nproc)}"
# A clone in another folder finds what this one compiled.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros}"

configure() { # PRESET [cmake options]
  local preset="$1"
  shift
  mkdir -p build
  # A cache made in another folder (a copied tree) would name files that are not ours.
  local kept="build/$preset/CMakeCache.txt"
  if [ -f "$kept" ] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$kept"; then rm -rf "build/$preset"; fi
  cmake --preset "$preset" "$@" >"build/$preset.configure.log" 2>&1 ||
    { cat "build/$preset.configure.log" >&2; return 1; }
}
