#include "tests/faults/fault_walk.h"

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "gmock/gmock.h"
#include "src/base/byte_reader.h"
#include "src/format/perf_data/testing/recording_builder.h"
#include "src/machine/procfs/build_id.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

namespace fs = std::filesystem;
using perf_event::RecordBuilder;

constexpr FaultToTry kFaults[] = {
    {"NoSpace", {.kind = Fault::Kind::kError, .error = ENOSPC}},
    {"InputOutputError", {.kind = Fault::Kind::kError, .error = EIO}},
    {"Interrupted", {.kind = Fault::Kind::kError, .error = EINTR}},
    {"ShortWrite", {.kind = Fault::Kind::kShortWrite}},
    {"Killed", {.kind = Fault::Kind::kKill}},
    {"InputOutputErrorFromThereOn", {.kind = Fault::Kind::kErrorsFromThereOn, .error = EIO}},
};

// A code mapping of this process.
struct Code {
  uint64_t start = 0, end = 0, offset = 0;
  std::string path;
};

Code CodeAround(uint64_t within) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Code code;
    std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &code.start, &code.end, &code.offset);
    code.path = line.substr(std::min(line.find('/'), line.size()));
    if (code.start <= within && within < code.end) return code;
  }
  return {};
}

// Returns one line per call, with a star before the spoilt call: "* writev perf.data 96 = -28".
std::string Describe(const Traced& traced) {
  std::stringstream text;
  for (size_t i = 0; i < traced.calls.size(); ++i) {
    const CountedCall& call = traced.calls[i];
    text << (traced.spoilt == i ? "\n* " : "\n  ") << call.name << " "
         << call.path.substr(call.path.rfind('/') + 1) << " " << call.bytes << " = " << call.result;
  }
  text << "\nexit code " << traced.exit_code << ", signal " << traced.signal << ", said:\n"
       << traced.err;
  return text.str();
}

}  // namespace

void PrintTo(const FaultToTry& fault, std::ostream* out) { *out << fault.name; }

::testing::internal::ParamGenerator<FaultToTry> EachFault() { return testing::ValuesIn(kFaults); }

std::string FaultName(const testing::TestParamInfo<FaultToTry>& info) { return info.param.name; }

std::string Contents(const std::string& path) {
  if (!fs::exists(path)) return "";
  return std::string(TextOf(perf_data::ReadFile(path)));
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void ExpectWhole(const std::string& path, const std::vector<std::string>& permitted) {
  const std::string contents = Contents(path);
  EXPECT_GT(std::ranges::count(permitted, contents), 0)
      << path << " has " << contents.size() << " bytes, and not those it should";
}

std::vector<std::string> ErrorLines(const Traced& traced) {
  std::vector<std::string> lines;
  std::istringstream stream(traced.err);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("[ ")) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

FaultWalk::FaultWalk()
    : folder_(fs::canonical(testing::TempDir()) / "faults"),
      work_(folder_ + "/work"),
      files_(work_ + "/files") {
  fs::remove_all(folder_);
  fs::create_directories(files_);
}

FaultWalk::~FaultWalk() { fs::remove_all(folder_); }

void FaultWalk::SetUp() {
  if (const std::string why = WhyNothingIsTraced(); !why.empty()) GTEST_SKIP() << why;
}

std::string FaultWalk::MakeRecording(const std::string& name) {
  const perf_event::Attr attr = perf_data::UsualAttr();
  auto writer = perf_data::Writer::Create(File(name), {{attr, "cpu-clock", {1}}}, 0);
  EXPECT_TRUE(writer.ok());
  const auto function = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort"));
  const Code code = CodeAround(function);
  RecordBuilder records(attr);
  records.By(7, 7).Id(1).At(1).Comm("program");
  records.Mmap2(code.start, code.end - code.start, code.offset, code.path);
  ++made_;
  for (int i = 0; i < 20 + made_; ++i) {
    records.At(static_cast<uint64_t>(2 + i)).Sample(function);
  }
  EXPECT_TRUE(perf_data::AppendAll(**writer, records).ok());
  perf_data::Features features = perf_data::UsualFeatures();
  features.build_ids = {{7, 2, procfs::BuildIdOfFile(code.path), code.path}};
  EXPECT_TRUE((*writer)->Finish(features).ok());
  return Contents(File(name));
}

Traced FaultWalk::Profiler(std::vector<std::string> arguments, const Fault& fault) const {
  arguments.insert(arguments.begin(), Runfile("profiler"));
  const std::string home = work_ + "/home";
  return Trace({.argv = std::move(arguments),
                // LeakSanitizer must be off: it traces the program, which already has a tracer.
                .environment = {"HOME=" + home, "XDG_CACHE_HOME=" + home + "/.cache",
                                "DEBUGINFOD_URLS=", "LSAN_OPTIONS=detect_leaks=0"},
                .folder = folder_,
                .watched = work_,
                .has_hard_links = has_hard_links_},
               fault);
}

void FaultWalk::Walk(const std::vector<std::string>& arguments,
                     const std::function<void()>& prepare,
                     const std::function<void(const Traced&)>& check) {
  Fault fault = GetParam().fault;
  for (fault.at = 1;; ++fault.at) {
    fs::remove_all(work_);
    fs::create_directories(files_);
    fs::create_directories(work_ + "/home");
    prepare();
    const Traced traced = Profiler(arguments, fault);
    SCOPED_TRACE(Describe(traced));
    ASSERT_FALSE(traced.timed_out);
    check(traced);
    if (traced.signal == 0 && !GoesOn(traced)) ExpectNoTemporaryFile();
    if (!traced.spoilt) break;
  }
  std::cout << arguments.front() << ", " << GetParam().name << ": " << fault.at - 1 << " calls\n";
  EXPECT_GT(fault.at, 1u) << "no call was counted";
}

void FaultWalk::ExpectNoTemporaryFile() const {
  for (const auto& entry : fs::recursive_directory_iterator(work_)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

bool FaultWalk::IsKilled(const Traced& traced) const {
  const bool is_killed = traced.spoilt && GetParam().fault.kind == Fault::Kind::kKill;
  EXPECT_EQ(traced.signal, is_killed ? SIGKILL : 0);
  return is_killed;
}

bool FaultWalk::IsRefused(const Traced& traced) const {
  return traced.spoilt && GetParam().fault.error != 0 && GetParam().fault.error != EINTR;
}

bool FaultWalk::IsOfCache(const Traced& traced) const {
  return traced.spoilt && traced.calls[*traced.spoilt].path.starts_with(work_ + "/home/");
}

bool FaultWalk::GoesOn(const Traced& traced) const {
  return traced.spoilt && GetParam().fault.kind == Fault::Kind::kErrorsFromThereOn;
}

void FaultWalk::ExpectRefusal(const Traced& traced) const {
  EXPECT_EQ(traced.exit_code, 1);
  EXPECT_THAT(ErrorLines(traced), testing::ElementsAre(testing::HasSubstr(Cause())));
}

void FaultWalk::ExpectSuccess(const Traced& traced) const {
  EXPECT_EQ(traced.exit_code, 0);
  EXPECT_THAT(ErrorLines(traced), testing::IsEmpty());
}

}  // namespace profiler::tests
