#!/bin/bash
# screen_test.sh SCREEN_TEST.PY ARGUMENT…: runs the test.
exec python3 "$@"
