#!/bin/sh
# Exercises the packaged program on a machine without any other of our files; judge.py checks the results. Runs in a
# folder with profiler, workload, busybox and reference.data, and writes into out/:
#   NAME.data, NAME.status, NAME.log    each recording, its exit status, and its messages
#   NAME.VIEW                           each view of each recording, and of reference.data
#
#   trial.sh COMMAND…      a program of this machine, to be recorded
set -u
mkdir -p out
chmod 1777 out

# record NAME OPTION…
record() {
  name=$1
  shift
  ./profiler record -F 999 -g -o "out/$name.data" "$@" >"out/$name.log" 2>&1
  echo $? >"out/$name.status"
}

./profiler doctor >out/abilities 2>&1
record launched -- ./workload 1.5
record system -- "$@"
record everything -a -- ./workload 1
./workload 2 &
record attached -p $! --duration 1
wait
./busybox su -s /bin/sh nobody -c './profiler record -F 999 -g -o out/nobody.data -- ./workload 1' >out/nobody.log 2>&1
echo $? >out/nobody.status
cp reference.data out/
cd out || exit 1
for recording in *.data; do
  sh ../views.sh ../profiler "${recording%.data}"
done
