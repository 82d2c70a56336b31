#!/bin/bash
# schema_test.sh SCHEMA_TEST.PY ARGUMENT…: by a Python that has the package jsonschema, as Debian's own has.
for python in /usr/bin/python3 python3; do
  "$python" -c 'import jsonschema' 2> /dev/null && exec "$python" "$@"
done
echo 'no Python here has the package jsonschema: apt install python3-jsonschema'
exit 1
