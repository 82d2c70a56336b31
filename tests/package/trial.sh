#!/bin/sh
# What the packaged program is made to do on a machine where nothing is but itself; judge.py says what is to come of it.
# Runs in a folder that has profiler, workload, busybox and reference.data, and leaves in out/
#   NAME.data, NAME.status, NAME.log    each recording, its exit status, and what was said
#   NAME.VIEW                           what each recording looks like here, reference.data as well
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

./profiler version -v >out/abilities 2>&1
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
