#include "src/annotate/annotation.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/profile/dso_image.h"

namespace profiler::annotate {
namespace {

using profile::Dso;
using profile::DsoKind;
using profile::EventId;
using profile::Frame;
using profile::Profile;
using profile::Row;
using profile::Symbol;
using symbolize::CodeBytes;
using symbolize::ImageId;
using symbolize::Reason;
using symbolize::Symbolizer;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

absl::Status NoCode(std::string_view name, std::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot annotate '", View(name), "': ", View(why)));
}

std::string_view WhyNoCode(DsoKind kind, Reason reason) {
  switch (reason) {
    case Reason::kNoImageFile:
      return kind == DsoKind::kKernel
                 ? "vmlinux is not here (Debian: linux-image-RELEASE-dbg)"
                 : "its file is not here, and its code not in the recording (record or archive "
                   "--embed code, where the file is)";
    case Reason::kRestricted:
      return "the kernel's addresses are hidden (kernel.kptr_restrict)";
    case Reason::kBuildIdMismatch:
      return "the file here is not the one that was recorded";
    case Reason::kNotElf:
      return "its file is not readable as ELF";
    default:
      return "its file has no code there";
  }
}

bool IsInFiles(DsoKind kind) {
  return kind == DsoKind::kUser || kind == DsoKind::kKernel || kind == DsoKind::kVdso;
}

std::string_view WhyInNoFile(DsoKind kind) {
  switch (kind) {
    case DsoKind::kModule:
    case DsoKind::kBpf:
      return "it is code of a module or a BPF program, which is not read";
    case DsoKind::kJit:
    case DsoKind::kJitDump:
    case DsoKind::kAnonymous:
      return "it is generated code, which is in no file";
    default:
      return "nothing is known to be mapped there";
  }
}

class Annotator {
 public:
  Annotator(Symbolizer& symbolizer, ImageId image, Disassembler& disassembler)
      : symbolizer_(symbolizer), image_(image), disassembler_(disassembler) {}

  void Disassemble(const CodeBytes& code, ElfAddress start, AnnotatedFunction& function) {
    start_ = start;
    size_ = code.bytes.size();
    for (size_t at = 0; at < code.bytes.size();) {
      const uint64_t address = start.value + at;
      const Instruction decoded = disassembler_.Decode(code.bytes.subspan(at), address);
      AnnotatedInstruction instruction{.address = {address}, .text = decoded.text};
      if (decoded.target) absl::StrAppend(&instruction.text, TargetName(*decoded.target));
      if (decoded.data) absl::StrAppend(&instruction.text, "  # ", absl::Hex(*decoded.data));
      instruction.source = SourceOf({address});
      function.instructions.push_back(std::move(instruction));
      at += decoded.size;
    }
  }

 private:
  // " <name+0x10>"; a place in the function itself goes by its address alone.
  std::string TargetName(uint64_t target) {
    if (target - start_.value < size_) return {};
    const symbolize::Naming naming = symbolizer_.NameAt(image_, {target});
    if (naming.functions.empty()) return {};
    std::string text = absl::StrCat(" <", View(naming.functions.back().name));
    if (naming.distance != 0) absl::StrAppend(&text, "+0x", absl::Hex(naming.distance));
    return text + ">";
  }

  SourceLine SourceOf(ElfAddress address) {
    const symbolize::Naming naming = symbolizer_.NameAt(image_, address);
    if (naming.functions.empty()) return {};
    const symbolize::NamedFunction& innermost = naming.functions.front();
    SourceLine source{.file = std::string(innermost.file), .line = innermost.line};
    if (innermost.inlined) source.inlined = innermost.name;
    return source;
  }

  Symbolizer& symbolizer_;
  const ImageId image_;
  Disassembler& disassembler_;
  ElfAddress start_;
  uint64_t size_ = 0;
};

// A function's instructions, and where in its file they are.
struct Disassembled {
  AnnotatedFunction function;
  CodeBytes code;
};

absl::StatusOr<Disassembled> Disassemble(const Profile& profile, profile::SymbolId id,
                                         Symbolizer& symbolizer, Syntax syntax) {
  const Symbol& symbol = profile[id];
  const Dso& dso = profile[symbol.dso];
  Disassembled result;
  AnnotatedFunction& function = result.function;
  function.name = profile.text(symbol.name);
  function.image = profile.text(dso.long_name);
  if (!IsInFiles(dso.kind)) return NoCode(function.name, WhyInNoFile(dso.kind));
  const ImageId image = symbolizer.AddImage(*profile::ImageOf(profile, dso));
  result.code = symbolizer.CodeAt(image, symbol.start, std::min(symbol.size, kLongestFunction));
  if (result.code.bytes.empty()) {
    return NoCode(function.name, WhyNoCode(dso.kind, result.code.reason));
  }
  function.cut = symbol.size > kLongestFunction;
  PROFILER_ASSIGN_OR_RETURN(const auto disassembler,
                            Disassembler::Create(result.code.machine, syntax));
  Annotator(symbolizer, image, *disassembler).Disassemble(result.code, symbol.start, function);
  return result;
}

// A sample counts for the instruction that its address is in. Of a function in several parts only
// the part at its symbol is shown, so some may be at none.
void CountSamples(const Profile& profile, EventId event, profile::SymbolId symbol,
                  const CodeBytes& code, AnnotatedFunction& function) {
  std::vector<AnnotatedInstruction>& instructions = function.instructions;
  const uint64_t start = instructions.front().address.value;
  for (const Row& row : profile.rows) {
    const Frame& frame = profile[row.self];
    const auto lines = profile.LinesOf(frame);
    if (row.event != event || lines.empty() || lines.back().symbol != symbol) continue;
    const uint64_t distance = frame.offset.value - code.offset.value;
    if (distance >= code.bytes.size()) {
      function.period_elsewhere += row.period;
      continue;
    }
    const auto after =
        std::upper_bound(instructions.begin(), instructions.end(), ElfAddress{start + distance},
                         [](ElfAddress a, const AnnotatedInstruction& instruction) {
                           return a < instruction.address;
                         });
    std::prev(after)->period += row.period;
    std::prev(after)->samples += row.count;
  }
}

}  // namespace

absl::StatusOr<AnnotatedFunction> Annotate(const Profile& profile, EventId event,
                                           const ChosenFunction& chosen, Symbolizer& symbolizer,
                                           Syntax syntax) {
  PROFILER_ASSIGN_OR_RETURN(Disassembled result,
                            Disassemble(profile, chosen.symbol, symbolizer, syntax));
  AnnotatedFunction& function = result.function;
  function.event = profile.text(profile[event].name);
  function.samples = chosen.samples;
  function.period = chosen.period;
  CountSamples(profile, event, chosen.symbol, result.code, function);
  return std::move(function);
}

absl::Status LookUpCode(const Profile& profile, profile::SymbolId function,
                        Symbolizer& symbolizer) {
  return Disassemble(profile, function, symbolizer, Syntax::kAtt).status();
}

}  // namespace profiler::annotate
