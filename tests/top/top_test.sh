#!/bin/bash
# top_test.sh TOP_TEST.PY ARGUMENT…: runs the test with a Python that has jsonschema.
for python in /usr/bin/python3 python3; do
  "$python" -c 'import jsonschema' 2> /dev/null && exec "$python" "$@"
done
echo 'no Python here has the package jsonschema: apt install python3-jsonschema'
exit 1
