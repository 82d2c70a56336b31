// Fuzzes whole commands on recordings of any form: report, annotate, script, archive, convert and
// the rest, with options of each kind. The recordings' images, JIT maps and kernel symbols exist.

#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"
#include "src/base/byte_reader.h"
#include "src/cli/command.h"
#include "src/format/perf_data/read/recording.h"
#include "src/format/perf_event/abi.h"
#include "symbolize/symbols/testing/jit_dump_builder.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/compiled_programs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/joint_recording.h"
#include "tests/fuzz/scratch_directory.h"

namespace profiler::fuzz {
namespace {

enum Kind : uint8_t { kText, kJson, kArchive, kConvert, kNoNames };

struct Command {
  AddCommand add;
  Kind kind;
  std::vector<std::string> arguments;
};

// Returns every view and tool that prints its result and ends, with options for each path through
// its code.
const std::vector<Command>& Commands() {
  using namespace cli;  // NOLINT: the names of sixteen commands
  static const auto& commands = *new std::vector<Command>{
      {AddReportCommand, kText, {"report"}},
      {AddReportCommand, kText, {"report", "--no-children", "-g", "caller", "-n", "--ci"}},
      {AddReportCommand, kText, {"report", "-g", "graph,0.5,callee", "--header", "-I"}},
      {AddReportCommand, kText, {"report", "-g", "flat", "-G", "--max-stack", "3"}},
      {AddReportCommand,
       kText,
       {"report", "-s", "pid,tid,comm,dso,sym,cpu,time,cgroup,parent,trace", "-F+period"}},
      {AddReportCommand, kText, {"report", "-s", "srcline,srcfile,socket", "--full-source-path"}},
      {AddReportCommand, kText, {"report", "--hierarchy", "-s", "comm,dso,sym", "-x"}},
      {AddReportCommand, kText, {"report", "-b", "-s", "dso_from,symbol_from,symbol_to"}},
      {AddReportCommand, kText, {"report", "--total-cycles"}},
      {AddReportCommand, kText, {"report", "--latency", "--showcpuutilization"}},
      {AddReportCommand, kText, {"report", "-t,", "--strip-args", "--merge-clones", "-U"}},
      {AddReportCommand, kText, {"report", "--time", "10%-60%", "-C", "0-1", "--pid", "7"}},
      {AddReportCommand, kText, {"report", "--stats"}},
      {AddReportCommand, kText, {"report", "--tasks"}},
      {AddReportCommand, kText, {"report", "--mmaps"}},
      {AddReportCommand, kText, {"report", "-T", "-v", "--group"}},
      {AddReportCommand, kText, {"report", "--chains"}},
      {AddReportCommand, kText, {"report", "--unresolved"}},
      {AddReportCommand, kJson, {"report", "--json"}},
      {AddReportCommand, kText, {"report", "--source", "-o", "page.html"}},
      {AddAnnotateCommand, kText, {"annotate"}},
      {AddAnnotateCommand, kText, {"annotate", "-M", "intel", "-n", "-l"}},
      {AddAnnotateCommand, kText, {"annotate", "Outer", "--no-source"}},
      {AddAnnotateCommand, kText, {"annotate", "--children", "-l"}},
      {AddScriptCommand, kText, {"script"}},
      {AddScriptCommand, kText, {"script", "--header", "-I", "--ns", "--show-mmap-events"}},
      {AddScriptCommand,
       kText,
       {"script", "--show-task-events", "--show-switch-events", "--show-lost-events",
        "--show-namespace-events", "--show-cgroup-events", "--show-bpf-events", "-v"}},
      {AddScriptCommand,
       kText,
       {"script", "-F", "comm,tid,pid,time,cpu,event,ip,sym,symoff,dso,addr,period,srcline"}},
      {AddScriptCommand, kText, {"script", "-F", "+brstack,+weight,+data_src,+iregs,+uregs"}},
      {AddScriptCommand, kText, {"script", "--deltatime", "-G", "--time", ",0.0000002"}},
      {AddSummaryCommand, kText, {"summary"}},
      {AddSummaryCommand, kJson, {"summary", "--json"}},
      {AddFlameGraphCommands, kText, {"flamegraph", "-o", "graph.svg"}},
      {AddFlameGraphCommands, kText, {"folded"}},
      {AddExportCommand, kText, {"export", "-o", "out.pb.gz"}},
      {AddExportCommand, kText, {"export", "-o", "out.json.gz"}},
      {AddExportCommand, kText, {"export", "-o", "out.speedscope.json"}},
      {AddExportCommand, kText, {"export", "-o", "out.callgrind"}},
      {AddExportCommand, kText, {"export", "-o", "out.trace.json"}},
      {AddExportCommand, kText, {"export", "-o", "out.otlp"}},
      {AddExportCommand, kText, {"export", "-o", "out.html"}},
      {AddArchiveCommand, kArchive, {"archive", "--embed", "code"}},
      {AddArchiveCommand, kArchive, {"archive", "--embed", "names"}},
      {AddArchiveCommand, kArchive, {"archive"}},
      {AddConvertCommand, kConvert, {"convert"}},
      {AddConvertCommand, kConvert, {"convert", "--pipe"}},
      {AddConvertCommand, kConvert, {"convert", "-z", "3"}},
      {AddConvertCommand, kText, {"convert", "--time", ",0.0000002", "--pid", "7,8"}},
      {AddDumpCommand, kNoNames, {"dump"}},
      {AddReportCommand, kText, {"report", "-D"}},
      {AddReportCommand, kText, {"report", "--header-only"}},
      {AddReportCommand, kText, {"report", "--header-only", "-I"}},
      {AddEvlistCommand, kNoNames, {"evlist"}},
      {AddEvlistCommand, kNoNames, {"evlist", "-v"}},
      {AddEvlistCommand, kNoNames, {"evlist", "-F", "-g"}},
      {AddBuildIdListCommand, kNoNames, {"buildid-list"}},
      {AddBuildIdListCommand, kNoNames, {"buildid-list", "-H"}},
  };
  return commands;
}

// A directory with the files that the recordings name.
class Tree {
 public:
  Tree() {
    const std::vector<Bytes> programs = CompiledPrograms();
    for (size_t i = 0; i < programs.size(); ++i) {
      files_.push_back("/image" + std::to_string(i));
      tree_.Write(files_.back().substr(1), programs[i]);
    }
    tree_.Write("tmp/perf-7.map", BytesOfText("10000 1000 jitted\n12000 1000 LazyCompile:f\n"));
    tree_.Write("proc/kallsyms",
                BytesOfText("ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
                            "ffffffff81002000 t in_the_kernel\nffffffff81008000 T _etext\n"));
    tree_.Write("tmp/jit-7.dump",
                BytesOfText(symbolize::JitDumpBuilder()
                                .Load(10, 0x14000, 1, "of_a_dump", std::string(64, '\x90'))
                                .Lines(0x15000, {{0x15000, 3, "a.js"}})
                                .Load(20, 0x15000, 2, "another", std::string(64, '\xc3'))
                                .Move(30, 0x16000, 64, 1)
                                .bytes()));
  }

  const std::vector<std::string>& files() const { return files_; }
  const std::string& path() const { return tree_.path(); }

 private:
  ScratchDirectory tree_;
  std::vector<std::string> files_;
};

// Results of reading a recording: the number of readable samples, and whether its end was reached.
struct Counted {
  uint64_t samples = 0;
  bool whole = false;
};
Counted CountSamples(const std::string& path) {
  Counted counted;
  auto recording = perf_data::Recording::Open(path);
  if (!recording.ok()) return counted;
  const absl::Status status = (*recording)
                                  ->ForEach(perf_data::Recording::Order::kFile,
                                            [&counted](const perf_data::TimedRecord& timed) {
                                              counted.samples +=
                                                  timed.record.type() == perf_event::kRecordSample;
                                            });
  counted.whole = status.ok();
  return counted;
}

void CheckCopy(const std::string& before, const std::string& after) {
  const Counted copied = CountSamples(after);
  Require(copied.whole, "a recording that was written anew can be read to its end");
  Require(copied.samples == CountSamples(before).samples, "with all its samples");
}

void RunOne(const Command& command, const Tree& tree, std::span<const std::byte> bytes) {
  static const ScratchDirectory work;
  work.Write("recording", bytes);
  const std::string input = work.PathOf("recording"), copy = work.PathOf("copy");
  std::vector<std::string> arguments = command.arguments;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i - 1] == "-o") arguments[i] = work.PathOf(arguments[i]);
  }
  const bool writes_copy = command.kind == kArchive || arguments.front() == "convert";
  if (writes_copy) arguments.insert(arguments.end(), {"-o", copy, "-q"});
  if (arguments.front() == "convert") {
    arguments.push_back(input);
  } else {
    arguments.insert(arguments.end(), {"-i", input});
  }
  if (command.kind != kNoNames && arguments.front() != "convert") {
    arguments.insert(arguments.end(), {"--symfs", tree.path(), "--no-cache", "--no-sandbox"});
    if (command.kind != kArchive) arguments.push_back("--no-debuginfod");
  }
  const Answer answer = RunCommand(command.add, arguments);
  const bool good = answer.code == cli::kExitOk;
  if (good && command.kind == kJson) {
    Require(nlohmann::json::accept(answer.out), "JSON is JSON");
  }
  if (good && (command.kind == kArchive || command.kind == kConvert)) CheckCopy(input, copy);
  work.Remove("copy");
  work.Remove("copy.old");
}

void RunCommands(std::span<const std::byte> input) {
  static const Tree tree;
  Choices choices(input);
  const Command& command = choices.OneOf(Commands());
  const JointRecording recording = MakeRecording(choices, tree.files());
  RunOne(command, tree, recording.bytes);
}

// Returns two seeds for each command: one with a valid file, one with a valid stream.
std::vector<Bytes> CommandSeeds() {
  std::vector<Bytes> seeds = ProgramsByChance(Commands().size() * 2, 500);
  for (size_t i = 0; i < seeds.size(); ++i) {
    seeds[i][0] = static_cast<std::byte>(i / 2);
    seeds[i][1] = static_cast<std::byte>(i % 2);
  }
  return seeds;
}

FuzzTarget CommandsTarget() {
  FuzzTarget target = {"commands", "recordings, by whole commands", RunCommands, CommandSeeds};
  target.is_slow = true;
  return target;
}

[[maybe_unused]] const bool is_added = AddTarget(CommandsTarget());

}  // namespace
}  // namespace profiler::fuzz
