# Sourced by setup/start and setup/run, from the root of the repository. Makes sure that the packages of
# package-lock.json are installed and that there is a Node that runs the service, and leaves its path in $node.
# Plain POSIX sh: nothing is installed yet when it runs, and the Node of the machine may be any.

stamp=node_modules/.reactord
lock=.setup-lock
least_node=24

say() {
  printf 'reactord: %s\n' "$*" >&2
}

give_up() {
  say "$*"
  exit 1
}

is_new_enough() {
  version=$("$1" -v 2>/dev/null) || return 1
  major=${version#v}
  major=${major%%.*}
  case $major in
    '' | *[!0-9]*) return 1 ;;
  esac
  [ "$major" -ge "$least_node" ]
}

# npm puts node_modules/.bin first in PATH. A broken node in there would also break npm, which begins with
# `#!/usr/bin/env node`; so npm and the Node of the machine are looked for without it.
system_path() {
  (
    IFS=:
    set -f
    kept=
    for folder in $PATH; do
      case $folder in
        */node_modules/.bin) ;;
        *) kept=${kept:+$kept:}$folder ;;
      esac
    done
    printf '%s' "$kept"
  )
}

# The stamp is written last, so an interrupted install has none. Where somebody ran `npm ci` themselves there is
# none either, but npm's own record of what it installed is then younger than the lock file.
packages_are_installed() {
  if [ -d "$stamp" ]; then
    cmp -s package-lock.json "$stamp/package-lock.json"
  else
    [ node_modules/.package-lock.json -nt package-lock.json ]
  fi
}

find_node() {
  node=
  [ -f "$stamp/node" ] && read -r node <"$stamp/node"
  node=${node:-$PWD/node_modules/.bin/node}
  is_new_enough "$node"
}

# "pid-start time", so that a process that got the pid of a dead one is not taken for it; nothing for a dead one.
process_mark() {
  if [ -r "/proc/$1/stat" ]; then
    pid=$1
    read -r fields <"/proc/$1/stat" || return 0
    # The second field is the program's name in brackets, which may hold spaces; the 20th after it is the start time.
    set -- ${fields##*) }
    printf '%s' "$pid-${20}"
  elif kill -0 "$1" 2>/dev/null; then
    printf '%s' "$1-"
  fi
}

# A symbolic link is made with its content in one step: there is never a lock of nobody.
take_lock() {
  mine=$(process_mark $$)
  waited=0
  missed=0
  until ln -s "$mine" "$lock" 2>/dev/null; do
    holder=$(readlink "$lock") || {
      missed=$((missed + 1))
      [ $missed -lt 20 ] ||
        give_up "cannot write in $PWD, where the packages have to be installed; start it as a user who can."
      continue
    }
    if [ "$(process_mark "${holder%%-*}")" != "$holder" ]; then
      drop_dead_lock
      continue
    fi
    [ $waited -eq 0 ] && say "another start is installing the packages; waiting for it…"
    waited=$((waited + 1))
    [ $waited -gt 900 ] && give_up "process ${holder%%-*} has been installing packages for 15 minutes; end it and start again."
    sleep 1
  done
}

# Two waiters may find the same dead lock, and the slower one may catch the lock that the faster one has just made.
drop_dead_lock() {
  mv "$lock" "$lock.$$" 2>/dev/null || return 0
  caught=$(readlink "$lock.$$")
  rm -f "$lock.$$"
  [ "$caught" = "$holder" ] || ln -s "$caught" "$lock" 2>/dev/null || :
}

release_lock() {
  [ "$(readlink "$lock" 2>/dev/null)" = "$mine" ] && rm -f "$lock"
  mine=
}

# Runs a command so that a signal to this shell ends it at once: a shell that waits for a foreground command
# looks at signals only afterwards.
run_stoppable() {
  "$@" &
  running=$!
  trap 'stop_with 129' HUP
  trap 'stop_with 130' INT
  trap 'stop_with 143' TERM
  code=0
  wait "$running" || code=$?
  trap - HUP INT TERM
  running=
  return $code
}

stop_with() {
  trap '' HUP INT TERM
  kill -TERM "$running" 2>/dev/null
  # npm undoes a half-done install, which may take long and is not needed: the next start begins anew.
  (
    sleep 2
    kill -KILL "$running" 2>/dev/null
  ) >/dev/null 2>&1 &
  wait "$running" 2>/dev/null
  [ -n "${mine:-}" ] && release_lock
  exit "$1"
}

run_npm() {
  if PATH=$outside command -v npm >/dev/null 2>&1; then
    run_stoppable env PATH="$outside" npm "$@"
  else
    run_stoppable "$npm_node_execpath" "$npm_execpath" "$@"
  fi
}

find_npm() {
  outside=$(system_path)
  PATH=$outside command -v npm >/dev/null 2>&1 && return
  [ -x "${npm_node_execpath:-}" ] && [ -f "${npm_execpath:-}" ] && return
  give_up "npm is missing, and it installs the packages of reactord; install Node.js $least_node, which brings npm, from https://nodejs.org."
}

# dev packages count whatever NODE_ENV says: the Node that runs the service is one of them.
npm_options='--include=dev --no-audit --no-fund --no-progress --no-update-notifier --loglevel=error'

install_packages() {
  find_npm
  say "installing packages (first start, about 20 s)…"
  rm -rf "$stamp"
  npm_major=$(npm_version)
  # npm 6, which came with Node 12 and 14, knows neither workspaces nor this lock file.
  if [ "${npm_major:-0}" -lt 7 ]; then
    run_stoppable env PATH="$outside" npx --quiet npm@8 ci $npm_options >/dev/null
  else
    run_npm ci $npm_options >/dev/null
  fi || give_up "npm could not install the packages (see above); mend that and start again."

  if ! find_node; then
    # Somebody's npm is told to run no scripts, and the package `node` unpacks itself in one.
    run_npm rebuild node --ignore-scripts=false --loglevel=error >/dev/null || :
  fi
  mkdir -p "$stamp"
  if ! find_node; then
    node=$(PATH=$outside command -v node) && is_new_enough "$node" ||
      give_up "this machine has no Node $least_node that runs, and npm could not bring one; install Node.js $least_node or later from https://nodejs.org and start again."
    printf '%s\n' "$node" >"$stamp/node"
  fi
  cp package-lock.json "$stamp/package-lock.json"
}

npm_version() {
  version=$(PATH=$outside npm --version 2>/dev/null) || version=99
  printf '%s' "${version%%.*}"
}

prepare_packages() {
  if packages_are_installed && find_node; then
    return
  fi
  take_lock
  # Whoever held the lock may have done it.
  if ! { packages_are_installed && find_node; }; then
    install_packages
  fi
  release_lock
}

trap '[ -n "${mine:-}" ] && release_lock' EXIT

prepare_packages

export PATH="${node%/*}:$PWD/node_modules/.bin:$PATH"
# Compiled code of earlier starts is read again instead of being made again.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$PWD/node_modules/.cache/node}"
