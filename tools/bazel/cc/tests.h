// Headers that most tests include, for cc.bzl to precompile.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/bazel/cc/common.h"
