#include "symbolize/unwind/function_starts.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "symbolize/elf/libelf_file.h"
#include "symbolize/elf/offset_table.h"
#include "symbolize/unwind/aarch64_code.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kMostSymbols = size_t{1} << 20;
constexpr size_t kMostCode = size_t{64} << 20;
constexpr size_t kMostFound = size_t{1} << 21;  // largest number of calls and loaded addresses
// Examining this many bytes, or one symbol, costs one instruction of a FrameBudget.
constexpr uint64_t kBytesOfInstruction = 4;

constexpr uint8_t kCall = 0xe8;
constexpr uint8_t kLea = 0x8d;
// ModRM of a pc-relative operand: mode 0, operand 5, any register.
constexpr uint8_t kRelative = 0x05, kModeAndOperand = 0xc7;
constexpr size_t kDistance = sizeof(int32_t);

// Returns `most`, or fewer if the budget allows fewer. `of_instruction` units of work cost one
// instruction of the budget.
size_t MostNow(const FrameBudget* budget, size_t most, uint64_t of_instruction) {
  if (budget == nullptr) return most;
  return std::min<uint64_t>(most, budget->instructions_left() * of_instruction);
}
void Take(FrameBudget* budget, uint64_t count, uint64_t of_instruction) {
  if (budget != nullptr) budget->TakeInstructions(count / of_instruction);
}

// i386: ModRM of an operand at a 4-byte distance from a register.
constexpr uint8_t kFromRegister = 0x80, kMode = 0xc0;
constexpr uint8_t kPushImmediate = 0x68, kMoveImmediate = 0xb8, kStoreImmediate = 0xc7;

// Returns the offset of the value that follows an opcode byte, ModRM, optional SIB and
// displacement.
size_t BehindOperand(uint8_t modrm, uint8_t sib) {
  const unsigned mode = modrm >> 6, operand = modrm & 7;
  const bool has_sib = mode != 3 && operand == 4;
  const bool has_no_base = mode == 0 && (has_sib ? (sib & 7) == 5 : operand == 5);
  return 2 + (has_sib ? 1 : 0) + (mode == 2 || has_no_base ? 4 : mode == 1 ? 1 : 0);
}

class StartFinder {
 public:
  StartFinder(Architecture architecture, uint64_t offset_table,
              const std::vector<FunctionExtent>& named, const std::vector<CodeRange>& code,
              FrameBudget* budget)
      : architecture_(architecture), offset_table_(offset_table), code_(code), budget_(budget) {
    for (const CodeRange& range : code) found_.certain.push_back(range.address);
    for (const FunctionExtent& function : named) found_.certain.push_back(function.start);
  }

  void ReadCode() {
    size_t left = MostNow(budget_, kMostCode, kBytesOfInstruction);
    for (const CodeRange& range : code_) {
      const size_t size = std::min(left, range.bytes.size());
      ReadRange({range.address, range.bytes.first(size)});
      Take(budget_, size, kBytesOfInstruction);
      left -= size;
    }
  }

  FunctionStarts Finish() {
    ChooseCalled();
    KeepEachOnce(&found_.certain);
    ChooseTaken();
    KeepEachOnce(&found_.certain);
    KeepEachOnce(&found_.likely);
    std::vector<ElfAddress> likely;
    std::set_difference(found_.likely.begin(), found_.likely.end(), found_.certain.begin(),
                        found_.certain.end(), std::back_inserter(likely));
    found_.certain.shrink_to_fit();
    likely.shrink_to_fit();
    found_.likely = std::move(likely);
    return std::move(found_);
  }

 private:
  struct Taken {
    ElfAddress address, from;
  };

  void ReadRange(const CodeRange& range) {
    if (architecture_ == Architecture::kAArch64) return ReadRangeOnAArch64(range);
    const auto bytes =
        std::span(reinterpret_cast<const uint8_t*>(range.bytes.data()), range.bytes.size());
    for (size_t i = 0; i + 1 + kDistance <= bytes.size(); ++i) {
      const auto code = bytes.subspan(i);
      const ElfAddress address{range.address.value + i};
      if (code[0] == kCall) {
        // A call of the next instruction only reads the pc.
        if (DistanceAt(code, 1) == 0) continue;
        AddTarget(Relative(code, 1, address), address, /*is_called=*/true);
      } else if (architecture_ == Architecture::kI386) {
        if (const auto taken = TakenOnI386(code)) AddTarget(*taken, address, /*is_called=*/false);
      } else if (code[0] == kLea && (code[1] & kModeAndOperand) == kRelative &&
                 code.size() >= 2 + kDistance) {
        AddTarget(Relative(code, 2, address), address, /*is_called=*/false);
      }
    }
  }

  static int32_t DistanceAt(std::span<const uint8_t> code, size_t at) {
    int32_t distance;
    std::memcpy(&distance, &code[at], sizeof(distance));
    return distance;
  }

  // Returns the target of an instruction at `address`, whose last four bytes at offset `at` are the
  // distance to the target.
  ElfAddress Relative(std::span<const uint8_t> code, size_t at, ElfAddress address) const {
    const auto distance = static_cast<uint64_t>(int64_t{DistanceAt(code, at)});
    return {WithinWord(architecture_, address.value + at + kDistance + distance)};
  }

  // Returns the address that the i386 instruction at the start of `code` loads; empty for other
  // instructions. `code` has at least one byte more than a distance.
  std::optional<ElfAddress> TakenOnI386(std::span<const uint8_t> code) const {
    size_t at = 0;  // offset of the address or distance in the instruction
    if (offset_table_ != 0) {
      const bool has_sib = (code[1] & 7) == 4;
      if (code[0] == kLea && (code[1] & kMode) == kFromRegister && !has_sib) at = 2;
    } else if (code[0] == kPushImmediate || (code[0] & 0xf8) == kMoveImmediate) {
      at = 1;
    } else if (code[0] == kStoreImmediate && (code[1] & 0x38) == 0) {
      at = BehindOperand(code[1], code[2]);
    }
    if (at == 0 || at + kDistance > code.size()) return std::nullopt;
    const auto distance = static_cast<uint64_t>(int64_t{DistanceAt(code, at)});
    return ElfAddress{WithinWord(architecture_, offset_table_ + distance)};
  }

  void ReadRangeOnAArch64(const CodeRange& range) {
    uint32_t before = 0;
    for (size_t at = 0; at + sizeof(uint32_t) <= range.bytes.size(); at += sizeof(uint32_t)) {
      uint32_t code = 0;
      std::memcpy(&code, &range.bytes[at], sizeof(code));
      const ElfAddress from{range.address.value + at};
      if (const auto called = TargetOfCall(code, from.value)) {
        AddTarget({*called}, from, /*is_called=*/true);
      } else if (const auto taken = TakenAddress(before, code, from.value)) {
        AddTarget({*taken}, from, /*is_called=*/false);
      }
      before = code;
    }
  }

  void AddTarget(ElfAddress target, ElfAddress from, bool is_called) {
    if (FindRange(code_, target) == nullptr) return;
    if (!is_called && taken_.size() < kMostFound) taken_.push_back({target, from});
    if (is_called && called_.size() < kMostFound) called_.push_back(target);
  }

  void ChooseCalled() {
    std::sort(called_.begin(), called_.end());
    for (auto it = called_.begin(); it != called_.end();) {
      const auto next = std::upper_bound(it, called_.end(), *it);
      (next - it > 1 || LooksLikeStart(*it) ? found_.certain : found_.likely).push_back(*it);
      it = next;
    }
  }

  void ChooseTaken() {
    const std::vector<ElfAddress> certain = found_.certain;
    const auto function = [&](ElfAddress address) {
      return std::upper_bound(certain.begin(), certain.end(), address);
    };
    for (const Taken& taken : taken_) {
      if (LooksLikeStart(taken.address)) {
        found_.certain.push_back(taken.address);
      } else if (function(taken.address) != function(taken.from)) {
        found_.likely.push_back(taken.address);
      }
    }
  }

  bool LooksLikeStart(ElfAddress address) {
    if (!IsAlignedAsFunction(architecture_, address) || MostNow(budget_, 1, 1) == 0) return false;
    Take(budget_, kLookedAt, 1);
    const CodeRange& range = *FindRange(code_, address);
    return BeginsFunction(architecture_, range.bytes.subspan(address.value - range.address.value),
                          address);
  }

  static void KeepEachOnce(std::vector<ElfAddress>* starts) {
    std::sort(starts->begin(), starts->end());
    starts->erase(std::unique(starts->begin(), starts->end()), starts->end());
  }

  const Architecture architecture_;
  const uint64_t offset_table_;  // address of i386's global offset table; 0: none
  const std::vector<CodeRange>& code_;
  FrameBudget* const budget_;  // null: no budget
  FunctionStarts found_;
  std::vector<ElfAddress> called_;
  std::vector<Taken> taken_;
};

void AddSymbols(const ElfImage& image, const ElfSection& section,
                const std::vector<CodeRange>& code, FrameBudget* budget,
                std::vector<FunctionExtent>* named) {
  const LibelfFile file(image.bytes());
  const size_t most =
      MostNow(budget, kMostSymbols, 1) * gelf_fsize(file.get(), ELF_T_SYM, 1, EV_CURRENT);
  Elf_Data* const table =
      file.Table(section.contents.first(std::min(section.contents.size(), most)), ELF_T_SYM);
  GElf_Sym symbol;
  int count = 0;
  for (; gelf_getsym(table, count, &symbol) != nullptr; ++count) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    const bool is_defined = is_function && symbol.st_shndx != SHN_UNDEF;
    if (is_defined && FindRange(code, {symbol.st_value}) != nullptr) {
      named->push_back({{symbol.st_value}, symbol.st_size});
    }
  }
  Take(budget, static_cast<uint64_t>(count), 1);
}

}  // namespace

uint64_t GlobalOffsetTable(const ElfImage& image) {
  if (image.type() == ET_EXEC) return 0;
  const ElfSection* const table = FindGlobalOffsetTable(image);
  return table == nullptr ? 0 : table->address.value;
}

std::vector<CodeRange> CodeOf(const ElfImage& image) {
  constexpr size_t kMostRanges = 64;
  std::vector<CodeRange> code;
  for (const ElfSection& section : image.sections()) {
    const bool is_code = (section.flags & SHF_EXECINSTR) != 0 && !section.contents.empty();
    if (!is_code || code.size() == kMostRanges) continue;
    const bool is_function = section.name == ".init" || section.name == ".fini";
    code.push_back({section.address, section.contents, is_function});
  }
  if (!code.empty()) return code;
  for (const ElfSegment& segment : image.segments()) {
    if (!segment.executable || code.size() == kMostRanges) continue;
    const auto bytes = image.BytesAt(segment.address, segment.file_size);
    if (!bytes.empty()) code.push_back({segment.address, bytes});
  }
  return code;
}

const CodeRange* FindRange(const std::vector<CodeRange>& code, ElfAddress address) {
  for (const CodeRange& range : code) {
    if (range.Holds(address)) return &range;
  }
  return nullptr;
}

bool BeginsFunction(Architecture architecture, std::span<const std::byte> code,
                    ElfAddress address) {
  if (!IsAlignedAsFunction(architecture, address)) return false;
  // On i386, code that passes arguments also pushes registers and reserves stack space.
  const size_t most = architecture == Architecture::kI386 ? 1 : kLookedAt;
  size_t at = 0;
  for (size_t i = 0; i < most && at < code.size(); ++i) {
    FrameInstruction instruction(architecture);
    if (!instruction.Decode(code.subspan(at), {address.value + at})) return false;
    if (instruction.IsPrologue()) return true;
    if (instruction.flow() != FrameInstruction::Flow::kNext) return false;
    at += instruction.length();
  }
  return false;
}

std::vector<FunctionExtent> FindNamedFunctions(const ElfImage& image,
                                               const std::vector<CodeRange>& code,
                                               FrameBudget* budget) {
  std::vector<FunctionExtent> named;
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    if (const ElfSection* section = image.FindSectionOfType(type)) {
      AddSymbols(image, *section, code, budget, &named);
    }
  }
  for (const CodeRange& range : code) {
    if (range.is_function) named.push_back({range.address, range.bytes.size()});
  }
  // Sorts by start; of symbols with the same start, the largest comes first.
  std::sort(named.begin(), named.end(), [](const FunctionExtent& a, const FunctionExtent& b) {
    return a.start != b.start ? a.start < b.start : a.size > b.size;
  });
  const auto is_same = [](const FunctionExtent& a, const FunctionExtent& b) {
    return a.start == b.start;
  };
  named.erase(std::unique(named.begin(), named.end(), is_same), named.end());
  for (size_t i = 0; i + 1 < named.size(); ++i) {
    named[i].size = std::min(named[i].size, named[i + 1].start.value - named[i].start.value);
  }
  return named;
}

FunctionStarts FindFunctionStarts(Architecture architecture, uint64_t offset_table,
                                  const std::vector<FunctionExtent>& named,
                                  const std::vector<CodeRange>& code, FrameBudget* budget) {
  StartFinder finder(architecture, offset_table, named, code, budget);
  finder.ReadCode();
  return finder.Finish();
}

}  // namespace profiler::symbolize
