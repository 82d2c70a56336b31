#include "src/analysis/frame_types.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "src/analysis/interpreters.h"

namespace profiler::analysis {

using profile::Frame;
using profile::Image;
using profile::Mode;
using profile::Profile;
using symbolize::ImageKind;

namespace {

constexpr std::array<std::string_view, 14> kNames = {"",        "native", "kernel", "go",    "rust",
                                                     "cpython", "v8js",   "jvm",    "php",   "ruby",
                                                     "perl",    "dotnet", "beam",   "luajit"};

struct Known {
  std::string_view text;
  FrameType type;
};

// Endings of source files.
constexpr std::array<Known, 23> kEndings = {
    {{".go", FrameType::kGo},     {".rs", FrameType::kRust},   {".py", FrameType::kCpython},
     {".js", FrameType::kV8js},   {".mjs", FrameType::kV8js},  {".cjs", FrameType::kV8js},
     {".ts", FrameType::kV8js},   {".java", FrameType::kJvm},  {".kt", FrameType::kJvm},
     {".scala", FrameType::kJvm}, {".clj", FrameType::kJvm},   {".groovy", FrameType::kJvm},
     {".php", FrameType::kPhp},   {".rb", FrameType::kRuby},   {".pl", FrameType::kPerl},
     {".pm", FrameType::kPerl},   {".cs", FrameType::kDotnet}, {".fs", FrameType::kDotnet},
     {".vb", FrameType::kDotnet}, {".erl", FrameType::kBeam},  {".ex", FrameType::kBeam},
     {".exs", FrameType::kBeam},  {".lua", FrameType::kLuajit}}};

FrameType TypeOfSource(std::string_view file) {
  for (const Known& ending : kEndings) {
    if (file.ends_with(ending.text)) return ending.type;
  }
  return FrameType::kUnknown;
}

// Names returned by InterpreterOf. PyPy is missing, because it is not CPython.
constexpr std::array<Known, 13> kInterpreters = {{{"node", FrameType::kV8js},
                                                  {"nodejs", FrameType::kV8js},
                                                  {"d8", FrameType::kV8js},
                                                  {"deno", FrameType::kV8js},
                                                  {"v8", FrameType::kV8js},
                                                  {"python", FrameType::kCpython},
                                                  {"java", FrameType::kJvm},
                                                  {"jvm", FrameType::kJvm},
                                                  {"ruby", FrameType::kRuby},
                                                  {"php", FrameType::kPhp},
                                                  {"dotnet", FrameType::kDotnet},
                                                  {"coreclr", FrameType::kDotnet},
                                                  {"luajit", FrameType::kLuajit}}};

FrameType TypeOfInterpreter(std::string_view base_name) {
  const std::string_view interpreter = InterpreterOf(base_name);
  if (interpreter.starts_with("beam")) return FrameType::kBeam;
  for (const Known& known : kInterpreters) {
    if (known.text == interpreter) return known.type;
  }
  return FrameType::kUnknown;
}

// Prefixes of generated names: of V8 (Logger and PerfJitLogger), CPython (perf_trampoline.c), PHP
// (zend_jit_perf_dump.c), and of our recorder.
constexpr std::array<Known, 13> kBeginnings = {{{"JS:", FrameType::kV8js},
                                                {"LazyCompile:", FrameType::kV8js},
                                                {"Function:", FrameType::kV8js},
                                                {"Script:", FrameType::kV8js},
                                                {"Eval:", FrameType::kV8js},
                                                {"RegExp:", FrameType::kV8js},
                                                {"Builtin:", FrameType::kV8js},
                                                {"BytecodeHandler:", FrameType::kV8js},
                                                {"InterpretedFunction:", FrameType::kV8js},
                                                {"[unknown JavaScript]", FrameType::kV8js},
                                                {"py::", FrameType::kCpython},
                                                {"JIT$", FrameType::kPhp},
                                                {"TRACE_", FrameType::kLuajit}}};

FrameType TypeOfJitName(std::string_view name) {
  for (const Known& beginning : kBeginnings) {
    if (name.starts_with(beginning.text)) return beginning.type;
  }
  // .NET: "int32 [app] Program::Work(int32)[OptimizedTier1]"
  if (name.ends_with(']') && name.find("::") != name.npos && name.find(" [") != name.npos) {
    return FrameType::kDotnet;
  }
  return FrameType::kUnknown;
}

// True if a dot separates package and name, as Go's linker does. In C, a dot only precedes a suffix
// that the compiler appends: "work.isra.0", "work.cold".
bool HasDotOfGo(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos || dot == 0) return false;
  for (const std::string_view appended :
       {"isra", "part", "constprop", "cold", "lto_priv", "llvm", "localalias", "clone", "str",
        "__uniq", "resolver", "ifunc", "default", "arch_", "avx", "sse"}) {
    if (name.substr(dot + 1).starts_with(appended)) return false;
  }
  return name.find('(') == name.npos || name.find(".(") == dot;
}

// True if the name has a part that occurs only in Rust's demangled names.
bool IsNameOfRust(std::string_view name) {
  return name.find("{{closure}}") != name.npos || name.find("{closure#") != name.npos ||
         name.find("{{impl}}") != name.npos || name.find("::<impl ") != name.npos ||
         name.find("__rust_begin_short_backtrace") != name.npos ||
         (name.starts_with('<') && name.find(" as ") != name.npos &&
          name.find(">::") != name.npos) ||
         name.starts_with("std::rt::") || name.starts_with("core::ops::function::");
}

// True if the name has "::" and no parameters. A C++ name with "::" has parameters.
bool MayBeRust(std::string_view name) {
  return name.find("::") != name.npos && name.find('(') == name.npos;
}

// Mask of the pid in Image::pid.
constexpr uint32_t kPid = (uint32_t{1} << 22) - 1;

// Languages found in the functions of a file.
struct LanguagesOfFile {
  bool go = false, rust = false;
};

class Finder {
 public:
  explicit Finder(const Profile& profile) : profile_(profile), files_(profile.images.size()) {}

  std::vector<FrameType> Find() {
    for (const Frame& frame : profile_.frames) LookAtFile(frame);
    FindMachines();
    std::vector<FrameType> types;
    types.reserve(profile_.frames.size());
    for (const Frame& frame : profile_.frames) types.push_back(TypeOf(frame));
    return types;
  }

 private:
  // Returns the frame's last line, which is the function's own, not that of a function inlined into
  // it.
  const profile::Line* LineOf(const Frame& frame) const {
    const auto lines = profile_.LinesOf(frame);
    return lines.empty() || lines.back().symbol == profile::kNoSymbol ? nullptr : &lines.back();
  }
  std::string_view NameOfLine(const profile::Line& line) const {
    return profile_.text(profile_[line.symbol].name);
  }

  void LookAtFile(const Frame& frame) {
    const profile::Line* const line = LineOf(frame);
    if (line == nullptr) return;
    LanguagesOfFile& languages = files_[static_cast<uint32_t>(frame.image)];
    const std::string_view name = NameOfLine(*line);
    languages.go = languages.go || name.starts_with("runtime.");
    languages.rust = languages.rust || IsNameOfRust(name);
  }

  // A set of FrameType, one bit for each.
  using Machines = uint32_t;

  Machines MachineOf(const Image& image) const {
    if (image.kind != ImageKind::kUser) return 0;
    const FrameType type = TypeOfInterpreter(profile_.text(image.name));
    return type == FrameType::kUnknown ? 0 : Machines{1} << static_cast<uint32_t>(type);
  }

  void FindMachines() {
    std::vector<Machines> of_image, of_stack;
    of_image.reserve(profile_.images.size());
    for (const Image& image : profile_.images) of_image.push_back(MachineOf(image));
    if (std::ranges::all_of(of_image, [](Machines machines) { return machines == 0; })) return;
    of_stack.reserve(profile_.stacks.size());
    for (const profile::StackNode& node : profile_.stacks) {
      Machines machines = of_image[static_cast<uint32_t>(profile_[node.frame].image)];
      if (node.parent != profile::kNoStack)
        machines |= of_stack[static_cast<uint32_t>(node.parent)];
      of_stack.push_back(machines);
    }
    for (const profile::Row& row : profile_.rows) {
      if (row.stack == profile::kNoStack) continue;
      machines_[profile_[row.thread].pid & kPid] |= of_stack[static_cast<uint32_t>(row.stack)];
    }
  }

  FrameType TypeOf(const Frame& frame) const {
    const Image& image = profile_[frame.image];
    if (frame.mode == Mode::kCut || image.kind == ImageKind::kNoCode) return FrameType::kUnknown;
    if (frame.mode == Mode::kKernel || frame.mode == Mode::kGuestKernel ||
        frame.mode == Mode::kHypervisor) {
      return FrameType::kKernel;
    }
    switch (image.kind) {
      case ImageKind::kKernel:
      case ImageKind::kModule:
      case ImageKind::kBpf:
        return FrameType::kKernel;
      case ImageKind::kVdso:
        return FrameType::kNative;
      case ImageKind::kUser:
        return IsFile(image) ? TypeInFile(frame) : TypeOutsideFiles(frame);
      case ImageKind::kJit:
      case ImageKind::kJitDump: {
        if (profile_.text(image.name) == kPythonFunctions) return FrameType::kCpython;
        const FrameType type = TypeOutsideFiles(frame);
        return type == FrameType::kUnknown ? TypeOfMachine(image) : type;
      }
      default:
        return TypeOutsideFiles(frame);
    }
  }

  // False for images without a file. "[unknown]" is the image of functions for which another
  // program's profile names no image.
  bool IsFile(const Image& image) const { return !profile_.text(image.name).starts_with('['); }

  FrameType TypeInFile(const Frame& frame) const {
    const profile::Line* const line = LineOf(frame);
    if (line == nullptr) return FrameType::kNative;
    const FrameType source = TypeOfSource(profile_.text(line->file));
    if (source == FrameType::kGo || source == FrameType::kRust) return source;
    const LanguagesOfFile& languages = files_[static_cast<uint32_t>(frame.image)];
    const std::string_view name = NameOfLine(*line);
    if (languages.go && HasDotOfGo(name)) return FrameType::kGo;
    // The source file is in another language.
    if (line->file != StringId::kEmpty) return FrameType::kNative;
    if (languages.rust && (IsNameOfRust(name) || MayBeRust(name))) return FrameType::kRust;
    return FrameType::kNative;
  }

  FrameType TypeOutsideFiles(const Frame& frame) const {
    const profile::Line* const line = LineOf(frame);
    if (line == nullptr) return FrameType::kUnknown;
    const FrameType by_name = TypeOfJitName(NameOfLine(*line));
    return by_name == FrameType::kUnknown ? TypeOfSource(profile_.text(line->file)) : by_name;
  }

  // Returns the language of the process's only virtual machine. CPython is excluded: the names of
  // its generated code show the language, so other generated code belongs to libraries.
  FrameType TypeOfMachine(const Image& image) const {
    const auto found = machines_.find(image.pid & kPid);
    if (found == machines_.end() || !std::has_single_bit(found->second)) return FrameType::kUnknown;
    const auto type = static_cast<FrameType>(std::countr_zero(found->second));
    return type == FrameType::kCpython ? FrameType::kUnknown : type;
  }

  const Profile& profile_;
  std::vector<LanguagesOfFile> files_;                // indexed by ImageId
  absl::flat_hash_map<uint32_t, Machines> machines_;  // keyed by pid
};

}  // namespace

std::string_view NameOf(FrameType type) { return kNames[static_cast<size_t>(type)]; }

std::vector<FrameType> FrameTypesOf(const Profile& profile) { return Finder(profile).Find(); }

}  // namespace profiler::analysis
