#!/bin/sh
# Runs a command that may write into the folders of the machine: it sees them as they are, and what it writes is gone
# with it. Called in a mount namespace of its own (unshare --mount).
set -e
layers=$(mktemp -d)
mount -t tmpfs layers "$layers"
for folder in /etc /opt /usr/local /var; do
  name=$(echo "$folder" | tr / _)
  mkdir -p "$layers/$name/upper" "$layers/$name/work"
  mount -t overlay "own$name" -o "lowerdir=$folder,upperdir=$layers/$name/upper,workdir=$layers/$name/work" "$folder"
done
# The engine's socket is in /run, which stays the machine's; /var/run leads there.
exec "$@"
