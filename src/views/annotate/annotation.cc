#include "src/views/annotate/annotation.h"

#include <elf.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/profile/image_spec.h"
#include "src/views/annotate/generated_code.h"

namespace profiler::annotate {
namespace {

using profile::EventId;
using profile::Frame;
using profile::Image;
using profile::Profile;
using profile::Row;
using profile::Symbol;
using symbolize::CodeBytes;
using symbolize::ImageId;
using symbolize::ImageKind;
using symbolize::Reason;
using symbolize::Symbolizer;

absl::Status NoCode(std::string_view name, std::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot annotate '", View(name), "': ", View(why)));
}

std::string_view WhyNoFile(ImageKind kind) {
  switch (kind) {
    case ImageKind::kKernel:
      return "vmlinux is not here (Debian: linux-image-RELEASE-dbg)";
    case ImageKind::kJitDump:
      return "the JIT's dump is not here, and the recording does not have its code (run record or "
             "archive with --embed code on the machine that has the dump)";
    default:
      return "its file is not here, and the recording does not have its code (run record or "
             "archive "
             "with --embed code on the machine that has the file)";
  }
}

constexpr std::string_view kIsInterpreted =
    "a virtual machine runs it, so there are no instructions to show (a JIT's own dump has those "
    "of compiled code: node --perf-prof)";
constexpr std::string_view kAnotherFile = "the file here is not the one that was recorded";

std::string_view WhyNoCode(ImageKind kind, Reason reason) {
  switch (reason) {
    case Reason::kNoImageFile:
      return WhyNoFile(kind);
    case Reason::kRestricted:
      return "the kernel's addresses are hidden (kernel.kptr_restrict)";
    case Reason::kBuildIdMismatch:
      return kAnotherFile;
    case Reason::kNotElf:
      return "its file is not readable as ELF";
    default:
      return "its file has no code at its address";
  }
}

bool IsInFiles(ImageKind kind) {
  return kind == ImageKind::kUser || kind == ImageKind::kKernel || kind == ImageKind::kVdso ||
         kind == ImageKind::kJitDump;
}

std::string_view WhyInNoFile(ImageKind kind) {
  switch (kind) {
    case ImageKind::kModule:
    case ImageKind::kBpf:
      return "it is code of a module or a BPF program, which is not read";
    case ImageKind::kJit:
    case ImageKind::kAnonymous:
      return "it is generated code, whose bytes are in no file (a JIT's dump has them: node "
             "--perf-prof)";
    default:
      return "nothing is known to be mapped there";
  }
}

// A function's instructions, and the position of its code in the file.
struct Disassembled {
  AnnotatedFunction function;
  CodeBytes code;
};

class Annotator {
 public:
  // Without `generated`, code of a dump is shown as if it lay at 0.
  Annotator(const Profile& profile, profile::SymbolId function, Symbolizer& symbolizer,
            const GeneratedCode* generated)
      : profile_(profile),
        id_(function),
        symbol_(profile[function]),
        image_(profile[symbol_.image]),
        symbolizer_(symbolizer),
        generated_(generated) {}

  absl::StatusOr<Disassembled> Disassemble(Syntax syntax) {
    Disassembled result;
    result.function.name = profile_.text(symbol_.name);
    result.function.image = profile_.text(image_.long_name);
    result.function.cut = symbol_.size > kLongestFunction;
    PROFILER_ASSIGN_OR_RETURN(result.code, ReadCode());
    if (result.code.machine == EM_NONE) return NoCode(result.function.name, kIsInterpreted);
    PROFILER_ASSIGN_OR_RETURN(const auto disassembler,
                              Disassembler::Create(result.code.machine, syntax));
    shown_start_ = symbol_.start.value;
    if (IsOfDump()) shown_start_ = generated_ ? generated_->StartOf(id_).value_or(0) : 0;
    result.function.in_symbolizer = in_symbolizer_;
    result.function.start = symbol_.start;
    result.function.shown_from = {shown_start_};
    size_ = result.code.bytes.size();
    for (size_t at = 0; at < size_;) {
      const Instruction decoded =
          disassembler->Decode(result.code.bytes.subspan(at), shown_start_ + at);
      AnnotatedInstruction instruction{.address = {shown_start_ + at}, .text = decoded.text};
      if (decoded.target) absl::StrAppend(&instruction.text, InBrackets(*decoded.target));
      if (decoded.data) absl::StrAppend(&instruction.text, "  # ", absl::Hex(*decoded.data));
      instruction.source = SourceOf({symbol_.start.value + at});
      result.function.instructions.push_back(std::move(instruction));
      at += decoded.size;
    }
    return result;
  }

 private:
  bool IsOfDump() const { return image_.kind == ImageKind::kJitDump; }

  absl::StatusOr<CodeBytes> ReadCode() {
    const std::string_view name = profile_.text(symbol_.name);
    if (!IsInFiles(image_.kind)) return NoCode(name, WhyInNoFile(image_.kind));
    in_symbolizer_ = symbolizer_.AddImage(*profile::SpecOf(profile_, image_));
    const CodeBytes code =
        symbolizer_.CodeAt(in_symbolizer_, symbol_.start, std::min(symbol_.size, kLongestFunction));
    if (code.bytes.empty()) return NoCode(name, WhyNoCode(image_.kind, code.reason));
    if (IsOfDump() && !DumpStillHasIt()) return NoCode(name, kAnotherFile);
    return code;
  }

  // True if the dump contains the recorded function. A dump has no build-id, and a later process
  // with the same pid reuses the dump's name.
  bool DumpStillHasIt() {
    const symbolize::Naming naming = symbolizer_.NameAt(in_symbolizer_, symbol_.start);
    if (naming.functions.empty()) return false;
    const symbolize::NamedFunction& function = naming.functions.back();
    return function.start == symbol_.start && function.size == symbol_.size &&
           function.name == profile_.text(symbol_.name);
  }

  // Returns " <name+0x10>"; empty if the target has no name.
  std::string InBrackets(uint64_t target) {
    const std::string name = NameOf(target);
    return name.empty() ? "" : absl::StrCat(" <", name, ">");
  }

  std::string NameOf(uint64_t target) {
    const uint64_t distance = target - shown_start_;
    if (distance < size_) return WithDistance(profile_.text(symbol_.name), distance);
    return IsOfDump() ? NameInDump(target) : NameInImage({target});
  }

  static std::string WithDistance(std::string_view name, uint64_t distance) {
    return distance == 0 ? std::string(name) : absl::StrCat(View(name), "+0x", absl::Hex(distance));
  }

  std::string NameInDump(uint64_t target) const {
    return generated_ == nullptr ? "" : generated_->NameAt(target);
  }

  std::string NameInImage(ElfAddress target) {
    const symbolize::Naming naming = symbolizer_.NameAt(in_symbolizer_, target);
    if (naming.functions.empty()) return {};
    return WithDistance(naming.functions.back().name, naming.distance);
  }

  SourceLine SourceOf(ElfAddress address) {
    const symbolize::Naming naming = symbolizer_.NameAt(in_symbolizer_, address);
    if (naming.functions.empty()) return {};
    const symbolize::NamedFunction& innermost = naming.functions.front();
    SourceLine source{.file = std::string(innermost.file), .line = innermost.line};
    if (innermost.inlined) source.inlined = innermost.name;
    return source;
  }

  const Profile& profile_;
  const profile::SymbolId id_;
  const Symbol& symbol_;
  const Image& image_;
  Symbolizer& symbolizer_;
  const GeneratedCode* const generated_;
  ImageId in_symbolizer_{};
  uint64_t shown_start_ = 0;
  uint64_t size_ = 0;
};

// True if the function's code contains the frame.
bool IsOf(const Profile& profile, const Frame& frame, profile::SymbolId symbol) {
  const auto lines = profile.LinesOf(frame);
  return !lines.empty() && lines.back().symbol == symbol;
}

// Returns the instruction at a frame of the function; for a caller's frame, the call. Returns null
// for another part of a split function, because only the part at the symbol is shown.
AnnotatedInstruction* InstructionAt(const Frame& frame, const CodeBytes& code,
                                    AnnotatedFunction& function) {
  const uint64_t back = frame.return_address && frame.place.value != 0 ? 1 : 0;
  const uint64_t distance = frame.place - code.place - back;
  if (distance >= code.bytes.size()) return nullptr;
  std::vector<AnnotatedInstruction>& instructions = function.instructions;
  const uint64_t start = instructions.front().address.value;
  const auto after =
      std::upper_bound(instructions.begin(), instructions.end(), ElfAddress{start + distance},
                       [](ElfAddress a, const AnnotatedInstruction& instruction) {
                         return a < instruction.address;
                       });
  return &*std::prev(after);
}

// Calls `weigh` for each sample of the function, with the sample's row and the instruction that was
// interrupted (InstructionAt).
void ForEachSample(const Profile& profile, EventId event, profile::SymbolId symbol,
                   const CodeBytes& code, AnnotatedFunction& function, auto weigh) {
  for (const Row& row : profile.rows) {
    const Frame& frame = profile[row.self];
    if (row.event != event || !IsOf(profile, frame, symbol)) continue;
    weigh(row, InstructionAt(frame, code, function));
  }
}

void CountSamples(const Profile& profile, EventId event, profile::SymbolId symbol,
                  const CodeBytes& code, AnnotatedFunction& function) {
  ForEachSample(profile, event, symbol, code, function,
                [&](const Row& row, AnnotatedInstruction* instruction) {
                  if (instruction == nullptr) {
                    function.elsewhere += analysis::WeightOf(row);
                  } else {
                    instruction->period += row.period;
                    instruction->samples += row.count;
                  }
                });
}

// Weighs instructions and source lines with all samples whose call chain contains them. A sample
// counts once for each, even if the function calls itself.
void CountCallees(const Profile& profile, EventId event, profile::SymbolId symbol,
                  const CodeBytes& code, AnnotatedFunction& function) {
  function.with_callees = true;
  const std::vector<bool> contains = StacksWith(profile, symbol);
  std::set<AnnotatedInstruction*> passed;
  std::set<std::pair<std::string_view, uint32_t>> lines;
  for (const Row& row : profile.rows) {
    if (row.event != event) continue;
    passed.clear();
    const auto pass = [&](const Frame& frame) {
      if (IsOf(profile, frame, symbol)) passed.insert(InstructionAt(frame, code, function));
    };
    pass(profile[row.self]);
    for (profile::StackId at = row.stack;
         at != profile::kNoStack && contains[static_cast<uint32_t>(at)]; at = profile[at].parent) {
      pass(profile[profile[at].frame]);
    }
    lines.clear();
    for (AnnotatedInstruction* const instruction : passed) {
      analysis::Weight& weight =
          instruction == nullptr ? function.children_elsewhere : instruction->children;
      weight += analysis::WeightOf(row);
      if (instruction == nullptr || instruction->source.line == 0) continue;
      lines.emplace(instruction->source.file, instruction->source.line);
    }
    for (const auto& [file, line] : lines) {
      function.children_of_lines[{std::string(file), line}] += analysis::WeightOf(row);
    }
  }
}

void CountMembers(const Profile& profile, const GroupMembers& group, profile::SymbolId symbol,
                  const CodeBytes& code, AnnotatedFunction& function) {
  function.group = group.name;
  for (const EventId event : group.events) {
    AnnotatedMember member{.event = std::string(profile.text(profile[event].name))};
    for (AnnotatedInstruction& instruction : function.instructions) {
      instruction.members.emplace_back();
    }
    ForEachSample(profile, event, symbol, code, function,
                  [&](const Row& row, AnnotatedInstruction* instruction) {
                    member.weight += analysis::WeightOf(row);
                    analysis::Weight& weight =
                        instruction == nullptr ? member.elsewhere : instruction->members.back();
                    weight += analysis::WeightOf(row);
                  });
    function.members.push_back(std::move(member));
  }
}

}  // namespace

absl::StatusOr<AnnotatedFunction> Annotate(const Profile& profile, EventId event,
                                           const ChosenFunction& chosen, Symbolizer& symbolizer,
                                           Syntax syntax, const GroupMembers& group,
                                           Counted counted) {
  std::optional<GeneratedCode> generated;
  const profile::ImageId image = profile[chosen.symbol].image;
  if (profile[image].kind == ImageKind::kJitDump) generated.emplace(profile, image);
  Annotator annotator(profile, chosen.symbol, symbolizer, generated ? &*generated : nullptr);
  PROFILER_ASSIGN_OR_RETURN(Disassembled result, annotator.Disassemble(syntax));
  AnnotatedFunction& function = result.function;
  function.event = profile.text(profile[event].name);
  function.samples = chosen.samples;
  function.period = chosen.period;
  CountSamples(profile, event, chosen.symbol, result.code, function);
  if (counted == Counted::kWithCallees) {
    CountCallees(profile, event, chosen.symbol, result.code, function);
  }
  CountMembers(profile, group, chosen.symbol, result.code, function);
  return std::move(function);
}

absl::Status LookUpCode(const Profile& profile, profile::SymbolId function,
                        Symbolizer& symbolizer) {
  return Annotator(profile, function, symbolizer, nullptr).Disassemble(Syntax::kAtt).status();
}

}  // namespace profiler::annotate
