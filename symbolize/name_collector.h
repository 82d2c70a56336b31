// Keeps what a symbolizer finds, for a recording to carry it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/embedded_names.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// Answers as `source` does, and remembers the answers, with the linker's names. `source` must look
// for inlined calls and function_starts and have bounded_symbols, for all other ways of naming can
// be told from that one (embedded_symbolizer.h); a PLT stub's name is remembered as it is told, so
// where those matter, without demangling. What Name was asked for becomes `addresses`, what NameAt
// was, `instructions`, and what CodeAt was, `pieces`. Not thread-safe.
class NameCollector : public Symbolizer {
 public:
  // `source` must outlive this. `go_on` is asked before each Name and each CodeAt, so that the
  // instructions of code that is kept are named to the last; once it says no, nothing is named and
  // nothing remembered any more.
  explicit NameCollector(
      Symbolizer& source, std::function<bool()> go_on = [] { return true; })
      : source_(source), go_on_(std::move(go_on)) {}

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override { return source_.image(id); }
  Naming Name(ImageId image, FileOffset offset) override;
  Naming NameAt(ImageId image, ElfAddress address) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  CodeBytes CodeAt(ImageId image, ElfAddress address, uint64_t size) override;
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    source_.SetKernelReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    source_.AddKernelSymbol(start, size, name);
  }

  // Everything remembered up to now; call it once, last. `has_lines` says whether the source looked
  // for lines.
  EmbeddedNames Take(bool has_lines);

 private:
  // An image of `source` and where it is told apart from others of its name.
  struct Collected {
    EmbeddedNames::Image image;
    std::vector<uint32_t> pids;                                            // that asked for it
    std::span<const JitCode> codes;                                        // of a dump
    absl::flat_hash_map<std::pair<uint64_t, StringId>, uint32_t> symbols;  // by start and name
    absl::flat_hash_map<std::tuple<StringId, uint32_t, StringId, uint32_t>, uint32_t> inlined;
  };
  using Place = std::tuple<ImageKind, std::string, std::vector<std::byte>>;

  bool GoesOn();
  void Remember(Collected& collected, uint64_t place, const Naming& naming,
                std::vector<EmbeddedNames::Address>& addresses);
  uint32_t AddSymbol(Collected& image, const NamedFunction& function, bool in_symbol_table);
  uint32_t AddInlined(Collected& image, std::span<const NamedFunction> functions);

  Symbolizer& source_;
  const std::function<bool()> go_on_;
  EmbeddedNames names_;
  std::vector<std::unique_ptr<Collected>> images_;  // by ImageId; null: not asked for
  std::map<Place, std::vector<ImageId>> by_place_;
};

}  // namespace profiler::symbolize
