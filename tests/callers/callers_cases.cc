#include "tests/callers/callers_cases.h"

#include <array>
#include <cstdlib>
#include <set>

#include "absl/strings/str_cat.h"

namespace profiler::tests {
namespace {

constexpr int kKiB = 1024;
constexpr long kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

// The options that -g chooses with -a if copying stacks is cheap (kSystemWideStackBytes).
const std::string kSystemOptions = "-F 999 --call-graph dwarf,16384";

const std::string kCallsOfC =
    ">main main>calibrate calibrate>cpu_now calibrate>spin main>wait_for_recorder main>cpu_now "
    "main>alpha main>beta alpha>deep beta>deep deep>deep deep>leaf leaf>spin leaf>cpu_now "
    "main>next_length";
const std::string kRecursion = "./program {depth} {changes} {seconds}";

const Program kGcc{.name = "gcc",
                   .language = Language::kC,
                   .compiler = "gcc",
                   .package = "gcc",
                   .sources = {"recursion.c", "clocked.h"},
                   .build = "gcc -O2 -fomit-frame-pointer -DFRAME={frame} -o program $1",
                   .command = kRecursion,
                   .calls = kCallsOfC,
                   .deep = "deep",
                   .leaf = "leaf",
                   .is_whole = true};

const Program kClang{.name = "clang",
                     .language = Language::kC,
                     .compiler = "clang",
                     .package = "clang",
                     .sources = {"recursion.c", "clocked.h"},
                     .build = "clang -O2 -fomit-frame-pointer -DFRAME={frame} -o program $1",
                     .command = kRecursion,
                     .calls = kCallsOfC,
                     .deep = "deep",
                     .leaf = "leaf",
                     .is_whole = true};

// The signal handler runs on an alternate stack.
const std::string kBuildSignals = "gcc -O2 -fomit-frame-pointer -DFRAME={frame} -o program $1";
const std::string kCallsOfSignals =
    ">main main>calibrate calibrate>cpu_now calibrate>spin main>wait_for_recorder main>run "
    "run>cpu_now run>next_length run>alpha run>beta alpha>on_signal beta>on_signal on_signal>deep "
    "deep>deep deep>leaf leaf>spin leaf>cpu_now";
const Program kSignalsOwn{.name = "signals",
                          .language = Language::kC,
                          .compiler = "gcc",
                          .package = "gcc",
                          .sources = {"signals.c", "clocked.h"},
                          .build = kBuildSignals,
                          .command = "./program {depth} {changes} {seconds} OWN",
                          .calls = kCallsOfSignals,
                          .deep = "deep",
                          .leaf = "leaf"};
const Program kSignalsMain{.name = "signals_in_main",
                           .language = Language::kC,
                           .compiler = "gcc",
                           .package = "gcc",
                           .sources = {"signals.c", "clocked.h"},
                           .build = kBuildSignals,
                           .command = "./program {depth} {changes} {seconds} MAIN",
                           .calls = kCallsOfSignals,
                           .deep = "deep",
                           .leaf = "leaf"};

const Program kSystemCalls{
    .name = "system_calls",
    .language = Language::kC,
    .compiler = "gcc",
    .package = "gcc",
    .sources = {"system_calls.c", "clocked.h"},
    .build = "gcc -O2 -fomit-frame-pointer -o program $1",
    .command = "./program {changes} {seconds}",
    .calls =
        ">main main>wait_for_recorder main>cpu_now main>read_zeros main>alpha main>beta "
        "main>next_length alpha>read_zeros beta>read_zeros",
    .deep = "read_zeros",
    .leaf = "",
    .has_frame = false,
    .has_depth = false};

const Program kEndings{
    .name = "endings",
    .language = Language::kC,
    .compiler = "gcc",
    .package = "gcc",
    .sources = {"endings.c", "clocked.h"},
    .build = "gcc -O2 -fomit-frame-pointer -o program $1",
    .command = "./program {changes} {seconds}",
    .calls =
        ">main main>calibrate calibrate>cpu_now calibrate>spin main>wait_for_recorder "
        "main>next_length main>child child>alpha child>beta alpha>finish beta>finish "
        "finish>leaf leaf>spin leaf>cpu_now main>after_exec after_exec>spin",
    .deep = "finish",
    .leaf = "",
    .has_frame = false,
    .has_depth = false};

const std::string kBuildObjects =
    "g++ -std=c++17 -O2 -fomit-frame-pointer -pthread -DFRAME={frame} -o program $1";
const std::string kCallsOfObjects =
    ">main main>calibrate calibrate>cpu_now calibrate>spin main>wait_for_recorder main>run >run "
    "run>cpu_now run>next_length run>alpha run>beta alpha>once beta>once leaf>spin leaf>cpu_now "
    "once>even once>Even::Descend Even::Descend>odd Even::Descend>Odd::Descend Odd::Descend>even "
    "Odd::Descend>Even::Descend Even::Descend>leaf Odd::Descend>leaf "
    "once>deep_by_function deep_by_function>deep deep>deep deep>leaf "
    "once>deep_to_throw deep_to_throw>deep_to_throw deep_to_throw>leaf";
const std::string kDeepOfObjects = "Even::Descend Odd::Descend deep deep_to_throw";
Program Objects(const std::string& name, const std::string& command) {
  return {.name = name,
          .language = Language::kCpp,
          .compiler = "g++",
          .package = "g++",
          .sources = {"objects.cc", "clocked.h"},
          .build = kBuildObjects,
          .command = command,
          .calls = kCallsOfObjects,
          .deep = kDeepOfObjects,
          .leaf = "leaf",
          .is_whole = name != "cpp_exception"};
}
const Program kVirtual = Objects("cpp_virtual", "./program virtual {depth} {changes} {seconds}");
const Program kFunction = Objects("cpp_function", "./program function {depth} {changes} {seconds}");
const Program kException =
    Objects("cpp_exception", "./program exception {depth} {changes} {seconds}");
const Program kThreads = Objects("cpp_threads", "./program threads {depth} {changes} {seconds}");

Program Rust(const std::string& name, const std::string& command) {
  return {.name = name,
          .language = Language::kRust,
          .compiler = "rustc",
          .package = "rustc",
          .sources = {"recursion.rs"},
          .build = "FRAME={frame} rustc -O -o program $1",
          .command = command,
          .calls =
              ">main main>calibrate calibrate>cpu_now calibrate>spin main>cpu_now main>alpha "
              "main>beta alpha>once beta>once once>deep deep>deep deep>leaf "
              "once>deep_by_closure deep_by_closure>deep_by_closure deep_by_closure>leaf "
              "once>Even Even>Odd Odd>Even Even>leaf Odd>leaf leaf>spin leaf>cpu_now",
          .deep = "deep deep_by_closure Even Odd",
          .leaf = "leaf",
          .is_whole = true};
}
const Program kRust = Rust("rust", "./program {depth} {changes} {seconds} plain");
const Program kClosure = Rust("rust_closure", "./program {depth} {changes} {seconds} closure");
const Program kDyn = Rust("rust_dyn", "./program {depth} {changes} {seconds} dyn");

const std::string kGoBuild =
    "mkdir go && cp $1 go && printf 'package main\\n\\nconst frameBytes = {frame}\\n' > "
    "go/frame.go "
    "&& cd go && GOCACHE=$PWD/../../go-cache GO111MODULE=off GOFLAGS= go build -o ../program .";
Program Go(const std::string& name, const std::string& command) {
  return {.name = name,
          .language = Language::kGo,
          .compiler = "go",
          .package = "golang-go",
          .sources = {"recursion.go"},
          .build = kGoBuild,
          .command = command,
          .calls =
              ">main main>calibrate calibrate>cpuNow calibrate>spin main>run run>cpuNow "
              ">run.func1 run.func1>cycle run>cycle cycle>alpha cycle>beta "
              "alpha>deep beta>deep deep>deep deep>leaf leaf>spin leaf>cpuNow",
          .deep = "deep",
          .leaf = "leaf"};
}
const Program kGo = Go("go", "./program {depth} {changes} {seconds} once");
const Program kGoGrows = Go("go_grows", "./program {depth} {changes} {seconds} grow");

const Program kCgo{
    .name = "cgo",
    .language = Language::kGo,
    .compiler = "go",
    .package = "golang-go",
    .sources = {"two_goroutines.go"},
    .build = kGoBuild,
    .command = "./program {changes} {seconds}",
    .calls =
        ">main main>cpuNow main>c_work >main.func1 "
        ">main.func2 main.func1>runAlpha main.func2>runBeta runAlpha>alpha runBeta>beta "
        "runBeta>cpuNow alpha>c_work beta>c_work c_work>c_deep c_deep>c_deep c_deep>c_leaf",
    .deep = "c_deep",
    .leaf = "",
    .has_frame = false,
    .has_depth = false};

// Depths are compared in chains that reach `leaf`. `leaf` is empty for code that C2 compiles: its
// debug information is exact only at safepoints, so the innermost inlined calls of a sample may be
// those of the next safepoint.
Program Java(const std::string& name, const std::string& leaf, const std::string& command) {
  return {.name = name,
          .language = Language::kJava,
          .compiler = "javac",
          .package = "default-jdk-headless",
          .sources = {"Recursion.java"},
          .build = "javac -d . $1",
          .command = command,
          .calls =
              ">main main>calibrate calibrate>alpha calibrate>beta calibrate>spin "
              "calibrate>cpuNow main>run run>cpuNow run>alpha run>beta alpha>deep beta>deep "
              "deep>deep deep>leaf leaf>spin leaf>cpuNow",
          .deep = "deep",
          .leaf = leaf,
          .comm = "java",
          .has_frame = false};
}
const Program kJava =
    Java("java", "", "java -Xss{stack}k -cp . Recursion {depth} {changes} {seconds}");
const Program kJavaC1 = Java("java_c1", "leaf",
                             "java -XX:TieredStopAtLevel=1 -Xss{stack}k -cp . Recursion {depth} "
                             "{changes} {seconds}");
const Program kJavaInterpreted =
    Java("java_interpreted", "leaf",
         "java -Xint -Xss{stack}k -cp . Recursion {depth} {changes} {seconds}");

// Functions that V8 inlines have no frames; see docs/names.md.
Program Node(const std::string& name, const std::string& command) {
  return {.name = name,
          .language = Language::kJavaScript,
          .compiler = "node",
          .package = "nodejs",
          .sources = {"recursion.js"},
          .build = "true",
          .command = command,
          .calls =
              ">module module>calibrate calibrate>alpha calibrate>beta calibrate>spin "
              "calibrate>cpuNow module>run run>cpuNow run>nextLength run>alpha run>beta "
              "alpha>deep beta>deep deep>deep deep>leaf leaf>spin leaf>cpuNow "
              "alpha>deepByClosure beta>deepByClosure deepByClosure>next next>deepByClosure "
              "next>leaf module>runLater >runLater runLater>cpuNow runLater>nextLength "
              "runLater>alphaLater runLater>betaLater >alphaLater >betaLater "
              "alphaLater>alpha betaLater>beta",
          .deep = "deep deepByClosure",
          .leaf = "leaf",
          .comm = "node",
          .has_frame = false};
}
const std::string kNode =
    "node --stack-size={stack} --no-turbo-inlining recursion.js {depth} {changes} {seconds} ";
const Program kNodePlain = Node("node", kNode + "plain");
const Program kNodeClosure = Node("node_closure", kNode + "closure");
const Program kNodeAsync = Node("node_async", kNode + "async");

constexpr int kNoFrame = 0, kNoDepth = 0;

std::vector<CallersCase> Always() {
  using enum Mode;
  return {
      // Chains whose stacks fit into the copied stack.
      {&kGcc, 100, 10, kMicrosecond, kLaunched},
      {&kGcc, kKiB, 10, 100 * kMicrosecond, kAttached},
      {&kClang, 100, 100, 10 * kMillisecond, kSystem, kSystemOptions},
      {&kGcc, 10 * kKiB, 3, kSecond, kLaunched},
      // Chains whose stacks are larger than the copied stack.
      {&kGcc, 100, 1000, kMicrosecond, kLaunched},
      {&kClang, kKiB, 100, 100 * kMicrosecond, kAttached},
      {&kGcc, kKiB, 100, 10 * kMillisecond, kSystem, kSystemOptions},
      {&kGcc, 10 * kKiB, 10, kSecond, kLaunched},
      {&kClang, 60 * kKiB, 10, 10 * kMillisecond, kLaunched},
      {&kGcc, 300 * kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kGcc, 100, 5000, 10 * kMillisecond, kAttached},
      {&kGcc, kKiB, 10, 100 * kMicrosecond, kLaunched, "-F 1999 --call-graph dwarf,4096"},
      {&kGcc, kKiB, 1900, kMillisecond, kAttached},
      {&kClang, 10 * kKiB, 180, 10 * kMillisecond, kSystem, kSystemOptions},
      // Chains that views unwind, instead of the recorder.
      {&kGcc, kKiB, 100, kMillisecond, kLaunched, "-F 499 --call-graph dwarf,32768 --post-unwind"},
      {&kSignalsOwn, kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kSignalsMain, 100, 10, 100 * kMicrosecond, kAttached},
      {&kSignalsOwn, kKiB, 100, 10 * kMillisecond, kLaunched},
      {&kSystemCalls, kNoFrame, kNoDepth, kMicrosecond, kLaunched},
      {&kSystemCalls, kNoFrame, kNoDepth, 100 * kMicrosecond, kSystem, kSystemOptions},
      {&kEndings, kNoFrame, kNoDepth, 10 * kMillisecond, kLaunched},
      {&kVirtual, kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kVirtual, kKiB, 100, 100 * kMicrosecond, kLaunched},
      {&kFunction, 10 * kKiB, 10, 10 * kMillisecond, kAttached},
      {&kException, kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kThreads, 10 * kKiB, 10, 10 * kMillisecond, kLaunched},
      {&kRust, 100, 100, kMicrosecond, kLaunched},
      {&kClosure, 10 * kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kDyn, 60 * kKiB, 10, 10 * kMillisecond, kAttached},
      {&kGo, kKiB, 10, kMicrosecond, kLaunched},
      {&kGo, 100, 1000, 10 * kMillisecond, kAttached},
      {&kGoGrows, 10 * kKiB, 10, 100 * kMicrosecond, kLaunched},
      {&kCgo, kNoFrame, kNoDepth, 100 * kMicrosecond, kLaunched},
      {&kCgo, kNoFrame, kNoDepth, 10 * kMillisecond, kAttached},
      {&kJava, kNoFrame, 10, kMicrosecond, kLaunched},
      {&kJavaC1, kNoFrame, 1000, 100 * kMicrosecond, kAttached},
      {&kJavaInterpreted, kNoFrame, 100, 10 * kMillisecond, kLaunched},
      {&kJavaInterpreted, kNoFrame, 5000, kSecond, kLaunched},
      {&kNodePlain, kNoFrame, 10, kMicrosecond, kLaunched},
      {&kNodePlain, kNoFrame, 1000, 10 * kMillisecond, kAttached},
      {&kNodeClosure, kNoFrame, 100, 100 * kMicrosecond, kLaunched},
      {&kNodeAsync, kNoFrame, 10, 100 * kMicrosecond, kLaunched},
  };
}

std::vector<CallersCase> All() {
  constexpr std::array kFrames = {100, kKiB, 10 * kKiB, 60 * kKiB, 300 * kKiB};
  constexpr std::array kDepths = {10, 100, 1000, 5000};
  constexpr std::array kChanges = {kMicrosecond, 100 * kMicrosecond, 10 * kMillisecond, kSecond};
  constexpr std::array kModes = {Mode::kLaunched, Mode::kAttached, Mode::kSystem};
  // Largest stack of a case, in KiB. Compiled code touches each page of a frame, and 5,000 frames
  // of 300 KiB exceed most machines' memory.
  constexpr long kMostKiB = 512 * kKiB;
  std::vector<CallersCase> cases = Always();
  std::set<std::string> names;
  for (const CallersCase& one : cases) names.insert(one.Name());
  size_t turn = 0;
  const auto add = [&](const Program& program, int frame, int depth, long changes) {
    for (const Mode mode : kModes) {
      // kGcc runs in all modes. The other programs take the modes in turn, so that every mode
      // occurs with every frame, with every depth, and with every `changes`.
      const bool is_its_turn = kModes[turn % kModes.size()] == mode;
      CallersCase one{&program, frame, depth, changes, mode};
      if (mode == Mode::kSystem) one.options = kSystemOptions;
      const bool is_tried = (&program == &kGcc || is_its_turn) && one.KiB() <= kMostKiB;
      if (is_tried && names.insert(one.Name()).second) cases.push_back(one);
    }
    ++turn;
  };
  for (const Program* const program : {&kGcc,
                                       &kClang,
                                       &kSignalsOwn,
                                       &kSignalsMain,
                                       &kSystemCalls,
                                       &kEndings,
                                       &kVirtual,
                                       &kFunction,
                                       &kException,
                                       &kThreads,
                                       &kRust,
                                       &kClosure,
                                       &kDyn,
                                       &kGo,
                                       &kGoGrows,
                                       &kCgo,
                                       &kJava,
                                       &kJavaC1,
                                       &kJavaInterpreted,
                                       &kNodePlain,
                                       &kNodeClosure,
                                       &kNodeAsync}) {
    for (const int frame : kFrames) {
      if (!program->has_frame && frame != kFrames.front()) continue;
      for (const int depth : kDepths) {
        if (!program->has_depth && depth != kDepths.front()) continue;
        for (const long changes : kChanges) {
          // No machine can start a process or a goroutine per microsecond.
          const bool is_made_anew = program == &kEndings || program == &kGoGrows;
          if (is_made_anew && changes < 100 * kMicrosecond) continue;
          add(*program, program->has_frame ? frame : kNoFrame,
              program->has_depth ? depth : kNoDepth, changes);
        }
      }
      ++turn;
    }
  }
  return cases;
}

std::string Size(int bytes) {
  return bytes < kKiB ? absl::StrCat(bytes, "B") : absl::StrCat(bytes / kKiB, "KiB");
}

std::string Time(long ns) {
  if (ns >= kSecond) return absl::StrCat(ns / kSecond, "s");
  if (ns >= kMillisecond) return absl::StrCat(ns / kMillisecond, "ms");
  return absl::StrCat(ns / kMicrosecond, "us");
}

}  // namespace

int CallersCase::Frequency() const {
  return std::atoi(options.c_str() + options.find("-F ") + std::string("-F ").size());
}

bool CallersCase::HasLargeStack() const {
  constexpr long kCopied = 64 * kKiB, kMost = 2048 * kKiB;
  const long bytes = long{depth} * frame;
  return program->is_whole && bytes > kCopied && bytes + depth * 64L < kMost &&
         options.find("post-unwind") == options.npos;
}

long CallersCase::KiB() const {
  // Bytes per call beyond the frame. An interpreter needs some hundred bytes more for each call.
  constexpr long kBesides = 400;
  constexpr long kLeast = 16 * kKiB;
  return kLeast + depth * (frame + kBesides) / kKiB;
}

std::string CallersCase::Name() const {
  std::string name = program->name;
  if (frame != kNoFrame) absl::StrAppend(&name, "_", Size(frame));
  if (depth != kNoDepth) absl::StrAppend(&name, "_deep", depth);
  absl::StrAppend(&name, "_", Time(changes),
                  mode == Mode::kLaunched   ? "_launched"
                  : mode == Mode::kAttached ? "_attached"
                                            : "_system");
  if (options.find("post-unwind") != options.npos) name += "_post";
  const bool is_usual = mode == Mode::kSystem && options == kSystemOptions;
  if (const size_t comma = options.find("dwarf,"); comma != options.npos && !is_usual) {
    absl::StrAppend(&name, "_copy",
                    std::atoi(options.c_str() + comma + std::string("dwarf,").size()));
  }
  return name;
}

std::vector<CallersCase> ChosenCallersCases() {
  const char* const which = std::getenv("PROFILER_CALLERS");
  return which != nullptr && std::string(which) == "all" ? All() : Always();
}

}  // namespace profiler::tests
