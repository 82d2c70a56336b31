// Tests samples of a process while it executes another program.

#include <string>

#include "gtest/gtest.h"
#include "src/format/perf_event/testing/record_builder.h"
#include "src/profile/profile_builder.h"
#include "src/profile/testing/fake_symbolizer.h"
#include "src/profile/testing/profile_text.h"

namespace profiler::profile {
namespace {

using perf_event::kContextKernel;
using perf_event::kContextUser;
using perf_event::kMiscKernel;
using perf_event::kMiscUser;
using perf_event::RecordBuilder;

constexpr uint64_t kKernel = 0xffffffff81000100;
constexpr uint64_t kExecve = 0x10100;  // runtime address of execve in the shell's libc

class ExecTest : public testing::Test {
 protected:
  // Maps /lib/libc.so of "sh" at 0x10000; then "sh" executes "ls".
  ExecTest() {
    records_.At(1).By(7, 7).Comm("sh", true).Mmap2(0x10000, 0x10000, 0, "/lib/libc.so");
    InKernel(2, kExecve);
    records_.At(3).Comm("ls", true);
  }

  void InKernel(uint64_t time, uint64_t user_ip) {
    records_.At(time)
        .Mode(kMiscKernel)
        .Sample(kKernel, {kContextKernel, kKernel, kContextUser, user_ip});
  }
  void InUserCode(uint64_t time, uint64_t ip) {
    records_.At(time).Mode(kMiscUser).Sample(ip, {kContextUser, ip});
  }

  void MapLs(uint64_t time) {
    records_.At(time).Mode(kMiscUser).Mmap2(0x50000, 0x1000, 0, "/bin/ls");
  }

  std::string Rows() {
    ProfileBuilder builder(symbolizer_);
    builder.AddEvent("cpu-clock", records_.attr());
    for (perf_event::RawRecord record : records_.records()) {
      builder.Add(record, 0, perf_event::TimeOf(record, records_.layout()));
    }
    return RowsText(std::move(builder).Finish());
  }

  FakeSymbolizer symbolizer_;
  RecordBuilder records_{perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                                perf_event::kSampleTime |
                                                perf_event::kSampleCallchain)};
};

TEST_F(ExecTest, SamplesOfTheSystemCallAreOfTheOldProgramsLibrary) {
  InKernel(4, kExecve);
  MapLs(5);
  InKernel(6, kExecve);
  InUserCode(7, 0x50010);
  EXPECT_EQ(Rows(),
            "ls 7/7: libc.so+0x100;[kernel.kallsyms]+0xffffffff81000100[k]  2 2\n"
            "ls 7/7: ls+0  1 1\n"
            "sh 7/7: libc.so+0x100;[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n");
}

TEST_F(ExecTest, NothingOfTheOldProgramIsThereOnceTheNewOneHasRun) {
  MapLs(5);
  InUserCode(6, 0x50010);
  InKernel(7, kExecve);
  EXPECT_EQ(Rows(),
            "ls 7/7: 0x10100@[unknown];[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n"
            "ls 7/7: ls+0  1 1\n"
            "sh 7/7: libc.so+0x100;[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n");
}

TEST_F(ExecTest, SamplesBeforeAndBehindItKeepTheirCount) {
  for (uint64_t time = 10; time < 30; ++time) InKernel(time, kExecve);
  MapLs(30);
  for (uint64_t time = 31; time < 50; ++time) InUserCode(time, 0x50010);
  EXPECT_EQ(Rows(),
            "ls 7/7: libc.so+0x100;[kernel.kallsyms]+0xffffffff81000100[k]  20 20\n"
            "ls 7/7: ls+0  19 19\n"
            "sh 7/7: libc.so+0x100;[kernel.kallsyms]+0xffffffff81000100[k]  1 1\n");
}

}  // namespace
}  // namespace profiler::profile
