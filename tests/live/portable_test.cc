// Reads recordings on a machine without any of the recorded files.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/live/command.h"

namespace profiler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class PortableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/profiler-portable-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    std::filesystem::create_directory(folder_ + "/empty");
    program_ = folder_ + "/program";
    std::filesystem::copy_file(Runfile("tests/live/workload"), program_);
    Finished probe = Profiler({"record", "-o", folder_ + "/probe.data", "--", "true"});
    if (probe.exit_code != 0) {
      GTEST_SKIP() << "this kernel lets nothing be recorded: " << probe.err;
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finished Profiler(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), profiler_);
    return tests::Run(std::move(arguments), folder_);
  }

  // Records `program_` into perf.data.
  void Record(std::vector<std::string> options) {
    options.insert(options.begin(), {"record", "-F", "2999"});
    options.insert(options.end(), {"--", program_, "busy", "0.3"});
    const Finished recorded = Profiler(options);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  }

  // Returns a view's output. For flamegraph, returns the content of the SVG file.
  std::string View(std::vector<std::string> arguments) {
    const bool draws = arguments[0] == "flamegraph";
    if (draws) arguments.insert(arguments.end(), {"-o", "out.svg"});
    const Finished shown = Profiler(arguments);
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    return draws ? ReadFile(folder_ + "/out.svg") : shown.out;
  }

  void ExpectTheSameWithoutFiles() {
    const std::vector<std::vector<std::string>> views = {
        {"report"},
        {"report", "--no-inline", "-s", "symbol,dso"},
        {"report", "--no-demangle", "-g", "none"},
        {"script"},
        {"script", "-F", "+symoff,+dsoff"},
        {"folded"},
        {"folded", "--full-names"},
        {"flamegraph"},
    };
    for (std::vector<std::string> view : views) {
      SCOPED_TRACE(view.front() + " " + view.back());
      const std::string with_files = View(view);
      EXPECT_THAT(with_files, HasSubstr("Inner"));
      view.insert(view.end(), {"--symfs", folder_ + "/empty"});
      EXPECT_EQ(View(view), with_files);
    }
  }

  // Returns the listings of all sampled functions. If a function has no
  // listing, its entry is the reason.
  std::string Listings(const std::vector<std::string>& options) {
    std::istringstream report(
        View({"report", "--no-children", "--no-inline", "-g", "none", "-s", "symbol"}));
    std::string text;
    for (std::string line; std::getline(report, line);) {
      const size_t name = line.find("[.] ");
      if (name == std::string::npos) continue;
      std::vector<std::string> arguments = {"annotate", line.substr(name + 4)};
      arguments.back().erase(arguments.back().find_last_not_of(' ') + 1);
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Finished shown = Profiler(arguments);
      text += arguments[1] + "\n" + shown.out + shown.err;
    }
    return text;
  }

  // Expects that listings are equal with and without the recorded files. Listings omit source
  // lines, because views show them only if a local program names the source file.
  void ExpectTheSameListingsWithoutFiles() {
    const std::vector<std::vector<std::string>> styles = {{"--no-source"},
                                                          {"-M", "intel", "--no-source"}};
    for (std::vector<std::string> options : styles) {
      const std::string with_files = Listings(options);
      EXPECT_THAT(with_files, HasSubstr("Compute"));
      EXPECT_THAT(with_files, HasSubstr("steady_clock"));
      options.insert(options.end(), {"--symfs", folder_ + "/empty"});
      EXPECT_EQ(Listings(options), with_files);
    }
  }

  const std::string profiler_ = Runfile("profiler");
  std::string folder_, program_;
};

TEST_F(PortableTest, EveryViewIsTheSameWithoutTheFiles) {
  for (const char* call_graph : {"fp", "dwarf"}) {
    SCOPED_TRACE(call_graph);
    Record({"--call-graph", call_graph});
    ExpectTheSameWithoutFiles();
  }
  Record({"-g", "-z"});
  ExpectTheSameWithoutFiles();
}

TEST_F(PortableTest, AStreamBringsItsNamesThroughAPipeAndInAFile) {
  for (const char* options : {"-g", "-g -z", "--call-graph dwarf --embed code"}) {
    SCOPED_TRACE(options);
    std::filesystem::copy_file(Runfile("tests/live/workload"), program_,
                               std::filesystem::copy_options::overwrite_existing);
    const Finished recorded = tests::Run({"sh", "-c",
                                          profiler_ + " record -F 2999 " + options + " -o - -- " +
                                              program_ + " busy 0.3 > perf.data"},
                                         folder_);
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    EXPECT_THAT(recorded.err, HasSubstr("names of "));
    ExpectTheSameWithoutFiles();
    std::filesystem::remove(program_);
    for (const char* view :
         {"report", "report -s srcline,symbol -g none", "folded", "flamegraph -o -"}) {
      const std::string shown = profiler_ + " " + view + " --symfs " + folder_ + "/empty -i ";
      const Finished of_file = tests::Run({"sh", "-c", shown + "perf.data"}, folder_);
      EXPECT_THAT(of_file.out, HasSubstr("Inner"));
      EXPECT_EQ(tests::Run({"sh", "-c", shown + "- < perf.data"}, folder_).out, of_file.out);
      EXPECT_EQ(tests::Run({"sh", "-c", "cat perf.data | " + shown + "-"}, folder_).out,
                of_file.out);
    }
    ASSERT_EQ(Profiler({"convert", "perf.data", "-o", "file.data"}).exit_code, 0);
    ASSERT_EQ(Profiler({"archive", "-i", "perf.data", "-o", "archived.data"}).exit_code, 0);
    for (const char* file : {"file.data", "archived.data"}) {
      EXPECT_EQ(View({"report", "-i", file}), View({"report"})) << file;
    }
  }
  const std::string annotate = profiler_ + " annotate --symfs " + folder_ + "/empty -i ";
  const Finished of_file = tests::Run({"sh", "-c", annotate + "perf.data"}, folder_);
  EXPECT_THAT(of_file.out, HasSubstr("Disassembly"));
  EXPECT_EQ(tests::Run({"sh", "-c", "cat perf.data | " + annotate + "-"}, folder_).out,
            of_file.out);
}

TEST_F(PortableTest, WithoutEmbeddedNamesThereAreNone) {
  Record({"-g", "--embed", "none"});
  EXPECT_THAT(View({"report"}), HasSubstr("Inner"));
  EXPECT_THAT(View({"report", "--symfs", folder_ + "/empty"}), Not(HasSubstr("Inner")));
}

TEST_F(PortableTest, ArchivePutsNamesInLater) {
  Record({"-g", "--embed", "none"});
  const std::string before = View({"report"});
  ASSERT_EQ(Profiler({"archive"}).exit_code, 0);
  EXPECT_EQ(View({"report"}), before);
  ExpectTheSameWithoutFiles();
  // Archiving again without the files must keep the stored names.
  ASSERT_EQ(Profiler({"archive", "--symfs", folder_ + "/empty"}).exit_code, 0);
  EXPECT_EQ(View({"report"}), before);
}

TEST_F(PortableTest, FunctionsAreAnnotatedWithoutTheFilesWhereTheirCodeWasKept) {
  Record({"-g", "--embed", "code"});
  ExpectTheSameListingsWithoutFiles();
  ASSERT_EQ(Profiler({"convert", "perf.data", "-o", "stream.data", "--pipe"}).exit_code, 0);
  EXPECT_EQ(View({"annotate", "--no-source", "-i", "stream.data", "--symfs", folder_ + "/empty"}),
            View({"annotate", "--no-source"}));
  std::filesystem::remove(program_);
  ExpectTheSameListingsWithoutFiles();
}

TEST_F(PortableTest, ArchivePutsCodeInLater) {
  Record({"-g", "--embed", "none"});
  const std::string before = View({"annotate", "--no-source"});
  ASSERT_EQ(Profiler({"archive", "--embed", "code"}).exit_code, 0);
  EXPECT_EQ(View({"annotate", "--no-source"}), before);
  ExpectTheSameListingsWithoutFiles();
  // Archiving again without the files must keep the stored code and names.
  ASSERT_EQ(Profiler({"archive", "--embed", "code", "--symfs", folder_ + "/empty"}).exit_code, 0);
  EXPECT_EQ(View({"annotate", "--no-source", "--symfs", folder_ + "/empty"}), before);
  ASSERT_EQ(Profiler({"archive", "--symfs", folder_ + "/empty"}).exit_code, 0);
  EXPECT_EQ(View({"annotate", "--no-source", "--symfs", folder_ + "/empty"}), before);
}

TEST_F(PortableTest, CodeThatAJitMadeIsAnnotatedFromItsDumpAndWithoutIt) {
  if (tests::Run({"sh", "-c", "command -v node"}, folder_).exit_code != 0) {
    GTEST_SKIP() << "not installed: node";
  }
  std::ofstream(folder_ + "/loop.js") << R"(
      function inner(n) { let s = 0; for (let i = 0; i < n; ++i) s = (s + i * i) % 1000003; return s; }
      let s = 0;
      while (process.cpuUsage().user < 1.5e6) s += inner(1000);)";
  const Finished recorded = Profiler({"record", "-F", "2999", "-g", "--embed", "code", "--", "node",
                                      "--perf-prof", folder_ + "/loop.js"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  // V8 writes source lines for some runs only. Without the dump no local file names the source,
  // so its text is not shown.
  const std::string from_dump = View({"annotate", "--no-source"});
  EXPECT_THAT(from_dump, HasSubstr("Disassembly of jit-"));
  // V8's name of a function contains its position: "JS:*inner FILE:2:21". Before version 11 the
  // name began with "LazyCompile:".
  EXPECT_THAT(from_dump, HasSubstr("loop.js:"));
  EXPECT_THAT(from_dump, HasSubstr(":  mov "));
  ASSERT_EQ(tests::Run({"sh", "-c", "rm jit-*.dump"}, folder_).exit_code, 0);
  EXPECT_EQ(View({"annotate", "--no-source"}), from_dump);
}

TEST_F(PortableTest, WithoutItsFileAndItsCodeAFunctionIsNotAnnotatedAndALineSaysWhy) {
  Record({"-g"});
  const Finished shown = Profiler({"annotate", "--symfs", folder_ + "/empty"});
  EXPECT_NE(shown.exit_code, 0);
  EXPECT_THAT(shown.err,
              HasSubstr("its file is not here, and the recording does not have its code (run "
                        "record or archive with --embed code on the machine that has the file)"));
}

TEST_F(PortableTest, KeptCodeChangesNoOtherView) {
  Record({"-g", "--embed", "none"});
  ASSERT_EQ(Profiler({"archive", "-o", "lines.data"}).exit_code, 0);
  ASSERT_EQ(Profiler({"archive", "--embed", "code", "-o", "code.data"}).exit_code, 0);
  EXPECT_THAT(View({"report", "--header-only", "-i", "lines.data"}), Not(HasSubstr("# code")));
  EXPECT_THAT(View({"report", "--header-only", "-i", "code.data"}), HasSubstr("# code : "));
  for (const char* view : {"report", "script", "folded", "flamegraph", "annotate"}) {
    SCOPED_TRACE(view);
    EXPECT_EQ(View({view, "-i", "code.data"}), View({view, "-i", "lines.data"}));
  }
}

TEST_F(PortableTest, ARecordingOfManySamplesCarriesTheirSumsAndEveryViewIsTheSame) {
  Record({"-g", "--embed", "none"});
  const Finished made = tests::Run({Runfile("tests/bench/replicate_recording"),
                                    folder_ + "/perf.data", folder_ + "/many.data", "120000"},
                                   folder_);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  ASSERT_EQ(Profiler({"archive", "-i", "many.data", "-o", "summed.data"}).exit_code, 0);
  EXPECT_THAT(View({"report", "--header-only", "-i", "many.data"}), Not(HasSubstr("sums")));
  EXPECT_THAT(View({"report", "--header-only", "-i", "summed.data"}), HasSubstr("sums"));
  for (const std::vector<std::string>& view : std::vector<std::vector<std::string>>{
           {"report"},
           {"report", "--no-children", "-n", "-g", "fractal,0.1"},
           {"report", "-s", "symbol,srcline", "--no-inline"},
           {"report", "-s", "pid,cpu"},
           {"report", "-s", "tid,symbol", "-C", "0"},
           {"report", "--time", "10%-20%"},
           {"report", "--time", "10.1%-20.2%", "-s", "cpu"},
           {"folded", "--time", "50%-100%"},
           {"report", "--comms", "program", "--max-stack", "2"},
           {"report", "--unresolved"},
           {"folded"},
           {"flamegraph", "--reverse"},
           {"annotate"},
       }) {
    SCOPED_TRACE(view.front() + " " + view.back());
    const auto of = [&](const std::string& input) {
      std::vector<std::string> arguments = view;
      arguments.insert(arguments.end(), {"-i", input});
      return View(arguments);
    };
    EXPECT_EQ(of("summed.data"), of("many.data"));
  }
  // A recording with only a part of the samples must not keep the stored sums, because they are
  // sums of all samples.
  ASSERT_EQ(Profiler({"convert", "summed.data", "-o", "part.data", "--time", "0%-10%"}).exit_code,
            0);
  EXPECT_THAT(View({"report", "--header-only", "-i", "part.data"}), Not(HasSubstr("sums")));
}

TEST_F(PortableTest, AProgramThatOnlyItsOwnMountNamespaceHasIsNamed) {
  std::filesystem::create_directory(folder_ + "/mnt");
  const Running target({"unshare", "-m", "sh", "-c",
                        "mount -t tmpfs none mnt && cp program mnt/inside && "
                        "exec mnt/inside busy 30"},
                       folder_);
  const std::string process = "/proc/" + std::to_string(target.pid());
  while (ReadFile(process + "/comm") != "inside\n") {
    // /proc/PID/exe cannot be read after the process has ended.
    std::error_code ended;
    if (std::filesystem::read_symlink(process + "/exe", ended).empty()) {
      GTEST_SKIP() << "no file system can be mounted here";
    }
    std::this_thread::yield();
  }
  const Finished recorded = Profiler(
      {"record", "-g", "-F", "999", "-p", std::to_string(target.pid()), "--duration", "0.3"});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  ASSERT_FALSE(std::filesystem::exists(folder_ + "/mnt/inside"));
  EXPECT_THAT(View({"report", "-g", "none"}), HasSubstr("Inner"));
  ExpectTheSameWithoutFiles();
}

TEST_F(PortableTest, AReplacedProgramNamesNothing) {
  Record({"-g", "--embed", "none"});
  std::filesystem::remove(program_);
  std::filesystem::copy_file("/proc/self/exe", program_);
  const Finished report = Profiler({"report", "-g", "none"});
  EXPECT_THAT(report.out, Not(HasSubstr("Inner")));
  EXPECT_THAT(report.err, HasSubstr(program_ + " is another build now than the one recorded"));
}

TEST_F(PortableTest, AProgramReplacedAfterItsNamesWereEmbeddedDoesNoHarm) {
  Record({"-g"});
  const std::string before = View({"report"});
  std::filesystem::remove(program_);
  std::filesystem::copy_file("/proc/self/exe", program_);
  EXPECT_EQ(View({"report"}), before);
}

}  // namespace
}  // namespace profiler::tests
