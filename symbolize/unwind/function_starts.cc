#include "symbolize/unwind/function_starts.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "symbolize/elf/libelf_file.h"
#include "symbolize/elf/offset_table.h"
#include "symbolize/unwind/frame_state.h"

namespace profiler::symbolize {
namespace {

constexpr size_t kMostSymbols = size_t{1} << 20;
constexpr size_t kMostCode = size_t{64} << 20;
constexpr size_t kMostFound = size_t{1} << 21;  // largest number of calls and loaded addresses
// Examining this many bytes, or one symbol, costs one instruction of a FrameBudget.
constexpr uint64_t kBytesOfInstruction = 4;

// Returns `most`, or fewer if the budget allows fewer. `of_instruction` units of work cost one
// instruction of the budget.
size_t MostNow(const FrameBudget* budget, size_t most, uint64_t of_instruction) {
  if (budget == nullptr) return most;
  return std::min<uint64_t>(most, budget->instructions_left() * of_instruction);
}
void Take(FrameBudget* budget, uint64_t count, uint64_t of_instruction) {
  if (budget != nullptr) budget->TakeInstructions(count / of_instruction);
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
    if (architecture_->find_targets == nullptr) return;
    architecture_->find_targets(range.bytes, range.address, offset_table_,
                                [this](ElfAddress target, ElfAddress from, bool is_called) {
                                  AddTarget(target, from, is_called);
                                });
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
  const uint64_t offset_table_;  // address of the global offset table; 0: none
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
  const size_t most = architecture->pushes_arguments ? 1 : kLookedAt;
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
