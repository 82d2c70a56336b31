#!/bin/sh
# installed.sh PACKAGE: installs PACKAGE on a bare Debian and uses it as its manual says. Prints the
# result on the last line.
set -eux
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends "$1" bash-completion fish man-db python3 zsh
profiler --version
man profiler-record | grep -qi 'profiler-record(1)'
man profiler | grep -qi 'profiler(1)'
python3 terminal_test.py --installed

# record_pid FOLDER: records a running process of the same user.
record_pid='cd "$1" && { /trial/workload 3 & } && profiler record -F 999 -g -p $! --duration 1 &&
  profiler report --no-children -g none | grep heavy && profiler flamegraph && wait'
mkdir -m 1777 /tmp/of_root /tmp/of_user
useradd --create-home somebody
sh -euxc "$record_pid" sh /tmp/of_root
su somebody -c "$(printf "sh -euxc '%s' sh /tmp/of_user" "$record_pid")"
cd /tmp/of_root
profiler record -a -g --duration 1
profiler report --no-children -g none >/dev/null
apt-get -qq remove -y profiler
! command -v profiler
echo "installed; its manual, three shells' completions, record -p as root and as a user, record -a; removed"
