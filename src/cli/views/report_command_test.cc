// Tests `profiler report` from the command line to standard output and error.

#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/cli/command.h"
#include "src/cli/usage/command_line.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/testing/record_builder.h"

namespace profiler::cli {
namespace {

struct Answer {
  int code = 0;
  std::string out, err;
};

Answer Report(std::vector<std::string> arguments) {
  usage::Command app("profiler", "");
  Commands commands;
  AddReportCommand(app, commands);
  arguments.insert(arguments.begin(), {"report", "--no-cache", "--no-debuginfod"});
  EXPECT_EQ(app.Parse(std::move(arguments)).kind, usage::Parsed::Kind::kCommand);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer;
  answer.code = commands.begin()->second();
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

// Runs a command line that must fail; returns its exit code and error line.
std::string Refused(std::vector<std::string> arguments) {
  const Answer answer = Report(std::move(arguments));
  EXPECT_EQ(answer.out, "");
  return std::to_string(answer.code) + " " + answer.err;
}

// A pipe with these bytes, which must fit its buffer because nobody reads it yet.
class FilledPipe {
 public:
  explicit FilledPipe(std::span<const std::byte> bytes) {
    EXPECT_EQ(pipe(ends_), 0);
    EXPECT_EQ(write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(ends_[1]);
  }
  ~FilledPipe() { close(ends_[0]); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
};

TEST(ReportCommandTest, CountersOfThreadsStandBelowTheReportOfAPipeToo) {
  perf_event::RecordBuilder records(perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  const uint64_t value[] = {1000};
  records.At(10).By(7, 7).Comm("cat").Sample(0x1234);
  records.Add(perf_event::kRecordRead, 0,
              perf_event::Read{.pid = 7,
                               .tid = 7,
                               .values = perf_event::U64Array(std::as_bytes(std::span(value))),
                               .sample_id = {.pid = 7, .tid = 7, .time = 20}});
  const auto stream = perf_data::StreamOf({{records.attr(), "cycles", {}}}, records.bytes());
  const FilledPipe pipe(stream);
  const Answer answer = Report({"-T", "-i", pipe.path()});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.err, "");
  EXPECT_NE(answer.out.find("# PID  TID  cycles\n    7    7    1000\n"), std::string::npos)
      << answer.out;
}

TEST(ReportCommandTest, ADumpHasPerfsRecordLinesAndThenTheirCounts) {
  perf_event::RecordBuilder records(perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  records.At(10).By(7, 7).Comm("cat").Sample(0x1234);
  const std::string path = perf_data::TestPath("dumped");
  perf_data::WriteFile(path,
                       perf_data::StreamOf({{records.attr(), "cycles", {}}}, records.bytes()));
  const Answer answer = Report({"-D", "-i", path});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_NE(answer.out.find("]: PERF_RECORD_SAMPLE(IP, 0x2): 7/7: 0x1234 period: "),
            std::string::npos)
      << answer.out;
  EXPECT_NE(answer.out.find("\nAggregated stats:\n"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("              SAMPLE events:          1  ("), std::string::npos)
      << answer.out;
}

// The leader's samples have the counters of the group: 11 is the leader's, 12 the member's.
TEST(ReportCommandTest, TheStatisticsCountEachMemberOfAGroupWhoseCounterMoved) {
  perf_event::Attr attr = perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid |
                                                 perf_event::kSampleTime | perf_event::kSampleRead);
  attr.read_format = perf_event::kFormatId | perf_event::kFormatGroup;
  perf_event::RecordBuilder records(attr);
  uint64_t time = 10;
  for (const std::array<uint64_t, 2> counters :
       {std::array<uint64_t, 2>{10, 4}, {20, 4}, {30, 9}}) {
    const std::array<uint64_t, 5> words = {2, counters[0], 11, counters[1], 12};
    records.Add(perf_event::kRecordSample, perf_event::kMiscUser,
                perf_event::Sample{.ip = 0x1234,
                                   .pid = 7,
                                   .tid = 7,
                                   .time = time++,
                                   .read = perf_event::U64Array(std::as_bytes(std::span(words)))});
  }
  const auto stream =
      perf_data::StreamOf({{attr, "cycles", {11}}, {attr, "page-faults", {12}}}, records.bytes());
  const std::string path = perf_data::TestPath("group");
  perf_data::WriteFile(path, stream);
  const FilledPipe pipe(stream);
  for (const std::string& input : {path, pipe.path()}) {
    const Answer answer = Report({"--stats", "-i", input});
    EXPECT_EQ(answer.code, kExitOk) << answer.err;
    EXPECT_NE(answer.out.find("cycles stats:\n              SAMPLE events:          3\n"
                              "page-faults stats:\n              SAMPLE events:          2\n"),
              std::string::npos)
        << answer.out;
  }
}

// Writes a recording with a sample of each of two events, and returns its path.
std::string RecordingOfTwoEvents(const std::string& name) {
  perf_event::RecordBuilder records(
      perf_event::SampleAttr(perf_event::kSampleIdentifier | perf_event::kSampleIp |
                             perf_event::kSampleTid | perf_event::kSampleTime));
  records.Id(1).At(10).By(7, 7).Comm("cat").Sample(0x1234).Id(2).At(20).Sample(0x5678);
  const std::string path = perf_data::TestPath(name);
  perf_data::WriteFile(
      path, perf_data::StreamOf({{records.attr(), "cycles", {1}}, {records.attr(), "faults", {2}}},
                                records.bytes()));
  return path;
}

TEST(ReportCommandTest, TheRecordingMayBeTheArgument) {
  const std::string path = RecordingOfTwoEvents("argument");
  const Answer by_option = Report({"-i", path}), by_argument = Report({path});
  EXPECT_EQ(by_argument.code, kExitOk);
  EXPECT_EQ(by_argument.err, "");
  EXPECT_EQ(by_argument.out, by_option.out);
  EXPECT_EQ(Refused({path, "-i", path}), "2 profiler: give one recording instead of " + path +
                                             " and " + path +
                                             "; use profiler diff to compare two\n");
}

TEST(ReportCommandTest, AnArgumentThatIsNoRecordingIsASymbolAsInPerf) {
  const std::string path = RecordingOfTwoEvents("filtered");
  const Answer answer = Report({path, "main"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.err, "[ 'main' is not a recording; showing only symbols that contain it ]\n");
  EXPECT_EQ(answer.out, Report({path, "--symbol-filter", "main"}).out);
}

TEST(ReportCommandTest, OneEventCanBeChosen) {
  const std::string path = RecordingOfTwoEvents("events");
  const std::string all = Report({path}).out;
  EXPECT_NE(all.find("of event 'cycles'"), std::string::npos) << all;
  EXPECT_NE(all.find("of event 'faults'"), std::string::npos) << all;
  const std::string one = Report({path, "--event", "faults"}).out;
  EXPECT_EQ(one.find("of event 'cycles'"), std::string::npos) << one;
  EXPECT_NE(one.find("of event 'faults'"), std::string::npos) << one;
  EXPECT_EQ(Refused({path, "--event", "misses"}),
            "2 profiler: --event: the recording has no 'misses', but cycles, faults\n");
}

TEST(ReportCommandTest, AQuietReportHasRowsAlone) {
  const std::string text = Report({RecordingOfTwoEvents("quiet"), "-q"}).out;
  EXPECT_NE(text.find("100.00%  cat"), std::string::npos) << text;
  EXPECT_EQ(text.find('#'), std::string::npos) << text;
}

TEST(ReportCommandTest, OptionsOfPerfThatChangeNothingAreAccepted) {
  const std::string path = RecordingOfTwoEvents("habits");
  const Answer answer = Report({path,
                                "-m",
                                "--inline",
                                "--samples",
                                "3",
                                "--percent-type",
                                "local-hits",
                                "--disable-order",
                                "--itrace=i100us",
                                "--objdump",
                                "objdump",
                                "--prefix",
                                "/src",
                                "--prefix-strip",
                                "1",
                                "-g",
                                "caller",
                                "-g",
                                "none",
                                "--ns"});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(answer.out, Report({path, "-g", "none"}).out);
}

TEST(ReportCommandTest, AuxDataThatAreNotDecodedAreNamed) {
  perf_event::RecordBuilder records(perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  records.At(10).By(7, 7).Comm("cat").Sample(0x1234);
  auto stream = perf_data::StreamOf({{records.attr(), "cycles", {}}}, records.bytes());
  std::string info(8, '\0'), trace(40, '\0');
  info[0] = 1;    // Intel PT
  trace[0] = 16;  // bytes behind the record
  perf_data::AddRecord(perf_event::kRecordAuxtraceInfo, info, &stream);
  perf_data::AddRecord(perf_event::kRecordAuxtrace, trace, &stream);
  stream.resize(stream.size() + 16);
  const std::string path = perf_data::TestPath("traced");
  perf_data::WriteFile(path, stream);
  const Answer answer = Report({"-i", path});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(
      answer.err,
      "profiler: warning: 16 bytes of Intel PT trace data are not decoded; views show the other "
      "samples only. Run perf report --itrace=i100us -i FILE\n");
}

TEST(ReportCommandTest, APatternThatIsNoneIsRefusedWithTheOptionAndTheReason) {
  EXPECT_EQ(Refused({"-p", "["}),
            "2 profiler: --parent: '[' is not a regular expression: Invalid regular expression\n");
  EXPECT_EQ(Refused({"--ignore-callers", "a{2"}),
            "2 profiler: --ignore-callers: 'a{2' is not a regular expression: Unmatched \\{\n");
}

TEST(ReportCommandTest, FieldsThatAreNoneAreRefusedWithTheOptionAndWhatThereIs) {
  EXPECT_TRUE(Refused({"-F", "nonsense"})
                  .starts_with("2 profiler: --fields: unknown sort key 'nonsense': use pid, "));
  EXPECT_TRUE(Refused({"-F", ","}).starts_with("2 profiler: --fields: no sort key: use pid, "));
  EXPECT_TRUE(Refused({"-s", "+"}).starts_with("2 profiler: --sort: no sort key: use pid, "));
}

TEST(ReportCommandTest, OptionsThatCannotBeMeantAreRefusedWithTheRemedy) {
  EXPECT_EQ(Refused({"-w", "10,x"}),
            "2 profiler: --column-widths: 'x' is not a width; give numbers up to 10000\n");
  EXPECT_EQ(Refused({"-t", ""}),
            "2 profiler: --field-separator cannot be '.', which replaces the separator inside "
            "columns; give another text\n");
  EXPECT_EQ(Refused({"--time", "200%/3"}),
            "2 profiler: --time: '200%/3' is not a time range; give seconds (12.5,13 or 12.5, or "
            ",13), or 10%-20%, or 10%/2\n");
  EXPECT_EQ(
      Refused({"--hierarchy", "-F", "overhead,sym"}),
      "2 profiler: --hierarchy cannot be used with --fields; its levels are the keys of --sort\n");
  EXPECT_EQ(Refused({"--percent-limit", "nan"}),
            "2 profiler: --percent-limit needs a number such as 0.5\n");
}

// ---- --kallsyms

// Writes a recording with one kernel sample, at 0xffffffff81000010.
std::string KernelRecording() {
  perf_event::RecordBuilder records(perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  records.At(5).By(7, 7).Comm("cat");
  records.At(10).Mode(perf_event::kMiscKernel).Sample(0xffffffff81000010);
  const std::string path = perf_data::TestPath("kernel");
  perf_data::WriteFile(path,
                       perf_data::StreamOf({{records.attr(), "cycles", {}}}, records.bytes()));
  return path;
}

std::string KallsymsOf(std::string_view text) {
  const std::string path = perf_data::TestPath("kallsyms");
  perf_data::WriteFile(path, std::as_bytes(std::span(text)));
  return path;
}

TEST(ReportCommandTest, TheKernelIsNamedByTheKallsymsThatAreGiven) {
  const Answer answer = Report({"-t,", "-s", "sym", "-i", KernelRecording(), "--kallsyms",
                                KallsymsOf("ffffffff81000000 T _text\n"
                                           "ffffffff81000008 t of_another_kernel\n"
                                           "ffffffff81000100 T behind\n")});
  EXPECT_EQ(answer.code, kExitOk);
  EXPECT_EQ(answer.err, "");
  EXPECT_NE(answer.out.find("100.00%,[k] of_another_kernel\n"), std::string::npos) << answer.out;
}

TEST(ReportCommandTest, KallsymsWithoutSymbolsAreRefused) {
  const std::string remedy =
      ": give a copy of /proc/kallsyms that root made on the recorded machine\n";
  for (const std::string_view text : {"", "root:x:0:0::/root:/bin/sh\n", "\n\n", "\xff"}) {
    const std::string path = KallsymsOf(text);
    EXPECT_EQ(Refused({"-i", KernelRecording(), "--kallsyms", path}),
              "2 profiler: --kallsyms: " + path + " has no kernel symbols" + remedy);
  }
  const std::string path = KallsymsOf("0000000000000000 T _text\n0000000000000000 T _stext\n");
  EXPECT_EQ(
      Refused({"-i", KernelRecording(), "--kallsyms", path}),
      "2 profiler: --kallsyms: " + path + " hides all addresses (kernel.kptr_restrict)" + remedy);
}

TEST(ReportCommandTest, KallsymsWithoutEndAreRefused) {
  EXPECT_TRUE(
      Refused({"--kallsyms", "/dev/zero"}).starts_with("2 profiler: --kallsyms: /dev/zero"));
}

// ---- recordings that cannot answer

TEST(ReportCommandTest, SamplesWithoutACpuAreOfNoSocket) {
  perf_event::RecordBuilder records(perf_event::SampleAttr(
      perf_event::kSampleIp | perf_event::kSampleTid | perf_event::kSampleTime));
  const std::string path = perf_data::TestPath("without_cpus");
  perf_data::WriteFile(path,
                       perf_data::StreamOf({{records.attr(), "cycles", {}}}, records.bytes()));
  EXPECT_EQ(Refused({"--socket-filter", "0", "-i", path}),
            "1 profiler: --socket-filter: the samples of cycles have no CPU; leave out "
            "--socket-filter, or record with --sample-cpu\n");
}

TEST(ReportCommandTest, AFileThatIsNoRecordingIsAnError) {
  const std::string path = perf_data::TestPath("empty");
  perf_data::WriteFile(path, {});
  for (const char* const view : {"-T", "--tasks", "--mmaps", "--stats", "--hierarchy"}) {
    EXPECT_EQ(Refused({view, "-i", path}),
              "1 profiler: " + path +
                  ": not a perf.data file: offset 0: expected a header of 16 bytes\n");
  }
}

// Writes a file with one sample of an event of this type.
std::string FileOf(uint32_t type) {
  perf_event::Attr attr = perf_event::SampleAttr(perf_event::kSampleIp | perf_event::kSampleTid);
  attr.type = type;
  const std::string path = perf_data::TestPath("recording");
  auto writer = perf_data::Writer::Create(path, {{attr, "sched:fork", {}}}, size_t{0});
  EXPECT_TRUE(writer.ok());
  perf_event::RecordBuilder records(attr);
  records.By(7, 7).Comm("cat").Sample(0x1234);
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  EXPECT_TRUE((*writer)->Finish({}).ok());
  return path;
}

TEST(ReportCommandTest, RowsOfTracepointsAloneAreWhatTheirRecordsSay) {
  const std::string path = FileOf(perf_event::kTypeTracepoint);
  EXPECT_NE(Report({"-i", path}).out.find("# Overhead  Trace output"), std::string::npos);
  EXPECT_NE(Report({"-i", path, "-s", "comm"}).out.find("# Overhead  Command"), std::string::npos);
  const std::string other = FileOf(perf_event::kTypeSoftware);
  EXPECT_NE(Report({"-i", other}).out.find("# Overhead  Command  Shared Object"),
            std::string::npos);
}

}  // namespace
}  // namespace profiler::cli
