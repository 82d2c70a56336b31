// An example tracepoint for tests: its format, and one of its records.

#pragma once

#include <cstdint>
#include <string>

#include "src/machine/events/tracing_data.h"
#include "src/machine/procfs/testing/fake_tree.h"

namespace profiler::events {

struct ExampleRecord {
  uint16_t type = 22;
  uint8_t flags = 0, preempt_count = 0;
  int32_t common_pid = 7;
  int64_t id = 5;
};

// Writes the tracepoint a:b to `tree` and returns a TRACING_DATA section with only this tracepoint.
// `print` is its print format.
inline std::string ExampleTracingData(procfs::FakeTree& tree,
                                      const std::string& print = "\"id %ld\", REC->id") {
  tree.Write("sys/kernel/tracing/events/a/b/id", "22\n");
  tree.Write("sys/kernel/tracing/events/a/b/format",
             "name: b\n"
             "ID: 22\n"
             "format:\n"
             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
             "\n"
             "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
             "\n"
             "print fmt: " +
                 print + "\n");
  return *TracingData(tree.roots(), {{"a", "b", 22}});
}

}  // namespace profiler::events
