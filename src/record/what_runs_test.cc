#include "src/record/what_runs.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "ringbuf/record_cursor.h"
#include "src/base/text.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::record {
namespace {

using perf_event::RecordBuilder;

class WhatRunsTest : public testing::Test {
 protected:
  WhatRunsTest()
      : records_(perf_event::SampleAttr(perf_event::kSampleTid | perf_event::kSampleTime)),
        runs_(records_.layout()) {
    records_.By(7, 7).At(1).Comm("shell", /*exec=*/true).Mmap2(0x1000, 0x1000, 0, "/bin/sh");
  }

  // Takes all records built since the last call as one pass over the rings.
  void Pass() {
    for (const auto record : records_.records()) runs_.Take(record);
    runs_.EndPass();
    records_.Clear();
  }

  std::string Written() {
    Pass();
    std::vector<std::byte> bytes;
    runs_.Write(&bytes);
    ringbuf::RingBytes ring;
    ring.spans[0] = bytes;
    ringbuf::BounceBuffer bounce;
    ringbuf::RecordCursor cursor(ring, bounce);
    std::vector<std::string> lines;
    while (const auto record = cursor.Next()) lines.push_back(Line(*record));
    return absl::StrJoin(lines, "\n");
  }

  std::string Line(perf_event::RawRecord record) const {
    EXPECT_EQ(TimeOf(record, records_.layout()), 0u);
    switch (record.type()) {
      case perf_event::kRecordFork: {
        perf_event::Task task;
        EXPECT_TRUE(Decode(record, records_.layout(), &task));
        return absl::StrCat("fork ", task.pid, "/", task.tid, " of ", task.ppid);
      }
      case perf_event::kRecordComm: {
        perf_event::Comm comm;
        EXPECT_TRUE(Decode(record, records_.layout(), &comm));
        return absl::StrCat("comm ", comm.pid, "/", comm.tid, " ", View(comm.comm));
      }
      case perf_event::kRecordMmap2: {
        perf_event::Mmap2 mapped;
        EXPECT_TRUE(Decode(record, records_.layout(), &mapped));
        return absl::StrCat("map ", mapped.pid, " ", absl::Hex(mapped.addr), " ",
                            View(mapped.filename));
      }
      case perf_event::kRecordMmap: {
        perf_event::Mmap mapped;
        EXPECT_TRUE(Decode(record, records_.layout(), &mapped));
        return absl::StrCat("kernel ", absl::Hex(mapped.addr), " ", View(mapped.filename));
      }
      case perf_event::kRecordKsymbol: {
        perf_event::Ksymbol symbol;
        EXPECT_TRUE(Decode(record, records_.layout(), &symbol));
        return absl::StrCat("symbol ", View(symbol.name));
      }
      case perf_event::kRecordNamespaces: {
        perf_event::Namespaces namespaces;
        EXPECT_TRUE(Decode(record, records_.layout(), &namespaces));
        return absl::StrCat("namespaces ", namespaces.tid);
      }
      case perf_event::kRecordCgroup: {
        perf_event::Cgroup cgroup;
        EXPECT_TRUE(Decode(record, records_.layout(), &cgroup));
        return absl::StrCat("cgroup ", cgroup.id, " ", View(cgroup.path));
      }
      default:
        return absl::StrCat("type ", record.type());
    }
  }

  RecordBuilder records_;
  WhatRuns runs_;
};

TEST_F(WhatRunsTest, AProcessHasItsThreadsAndMappings) {
  records_.At(2).Fork(7, 8).By(7, 8).Comm("worker").Mmap2(0x5000, 0x1000, 0, "/lib/x");
  EXPECT_EQ(Written(),
            "fork 7/7 of 0\ncomm 7/7 shell\nfork 7/8 of 7\ncomm 7/8 worker\n"
            "map 7 1000 /bin/sh\nmap 7 5000 /lib/x");
}

TEST_F(WhatRunsTest, AChildHasWhatItsParentHadUntilItExecutesAProgram) {
  records_.At(2).Fork(9, 9);
  EXPECT_EQ(Written(),
            "fork 7/7 of 0\ncomm 7/7 shell\nmap 7 1000 /bin/sh\n"
            "fork 9/9 of 7\ncomm 9/9 shell\nmap 9 1000 /bin/sh");
  records_.By(9, 9).At(3).Comm("ls", /*exec=*/true).Mmap2(0x1000, 0x500, 0, "/bin/ls");
  EXPECT_EQ(Written(),
            "fork 7/7 of 0\ncomm 7/7 shell\nmap 7 1000 /bin/sh\n"
            "fork 9/9 of 7\ncomm 9/9 ls\nmap 9 1000 /bin/ls");
}

TEST_F(WhatRunsTest, NamespacesAndCgroupsAreKnownInTheNextFile) {
  records_.At(2).Add(perf_event::kRecordNamespaces, 0, perf_event::Namespaces{.pid = 7, .tid = 7});
  records_.Add(perf_event::kRecordCgroup, 0, perf_event::Cgroup{.id = 23, .path = "/web"});
  EXPECT_EQ(Written(),
            "cgroup 23 /web\nfork 7/7 of 0\ncomm 7/7 shell\nnamespaces 7\nmap 7 1000 /bin/sh");
}

TEST_F(WhatRunsTest, AProcessIsGoneWithItsLastThread) {
  records_.At(2).Fork(7, 8).Exit();
  EXPECT_EQ(Written(), "fork 7/8 of 7\ncomm 7/8 shell\nmap 7 1000 /bin/sh");
  records_.By(7, 8).At(3).Exit();
  EXPECT_EQ(Written(), "");
}

TEST_F(WhatRunsTest, AMappingTakesThePlaceOfThoseThatItCovers) {
  records_.Mmap2(0x1000, 0x2000, 0, "/lib/over").Mmap2(0x2000, 0x2000, 0, "/lib/partly");
  EXPECT_EQ(Written(),
            "fork 7/7 of 0\ncomm 7/7 shell\nmap 7 1000 /lib/over\nmap 7 2000 /lib/partly");
}

TEST_F(WhatRunsTest, RecordsOfDifferentRingsCountInTheOrderOfTheirTimes) {
  // The ring with the child's records is read before the ring with its parent's records; for the
  // second child, even one pass earlier.
  records_.By(9, 9).At(5).Comm("ls", /*exec=*/true).Mmap2(0x1000, 0x500, 0, "/bin/ls");
  records_.By(7, 7).At(4).Fork(9, 9);
  records_.By(10, 10).At(7).Comm("cat", /*exec=*/true).Mmap2(0x1000, 0x500, 0, "/bin/cat");
  Pass();
  records_.By(7, 7).At(6).Fork(10, 10);
  EXPECT_EQ(Written(),
            "fork 7/7 of 0\ncomm 7/7 shell\nmap 7 1000 /bin/sh\n"
            "fork 9/9 of 7\ncomm 9/9 ls\nmap 9 1000 /bin/ls\n"
            "fork 10/10 of 7\ncomm 10/10 cat\nmap 10 1000 /bin/cat");
}

TEST_F(WhatRunsTest, TheKernelAndItsSymbolsComeFirst) {
  records_.By(static_cast<uint32_t>(-1), 0)
      .Mode(perf_event::kMiscKernel)
      .At(0)
      .Mmap(0xf000, 0x1000, 0, "[kernel.kallsyms]_text");
  records_.At(2).Ksymbol(0xa0, 8, "bpf_one").Ksymbol(0xb0, 8, "bpf_two");
  records_.At(3).Ksymbol(0xa0, 8, "bpf_one", /*unregistered=*/true);
  EXPECT_EQ(Written(),
            "kernel f000 [kernel.kallsyms]_text\nsymbol bpf_two\n"
            "fork 7/7 of 0\ncomm 7/7 shell\nmap 7 1000 /bin/sh");
}

TEST_F(WhatRunsTest, WhatItHasWrittenIsReadLikeTheRecordsThemselves) {
  records_.At(2).Fork(7, 8).Fork(9, 9);
  const std::string written = Written();
  std::vector<std::byte> bytes;
  runs_.Write(&bytes);
  WhatRuns next(records_.layout());
  ringbuf::RingBytes ring;
  ring.spans[0] = bytes;
  ringbuf::BounceBuffer bounce;
  ringbuf::RecordCursor cursor(ring, bounce);
  while (const auto record = cursor.Next()) next.Take(*record);
  std::vector<std::byte> again;
  next.Write(&again);
  EXPECT_EQ(again, bytes);
}

}  // namespace
}  // namespace profiler::record
