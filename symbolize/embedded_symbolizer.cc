#include "symbolize/embedded_symbolizer.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/base/byte_reader.h"
#include "symbolize/demangle.h"

namespace profiler::symbolize {
namespace {

using Files = EmbeddedOptions::Files;

Reason ReasonOf(uint8_t number) {
  return number <= static_cast<uint8_t>(Reason::kRestricted) ? Reason(number) : Reason::kNoSymbol;
}

// Who names many asks in the order of addresses: the next one is mostly the one behind the last.
const EmbeddedNames::Address* FindAddress(const std::vector<EmbeddedNames::Address>& addresses,
                                          uint64_t offset, size_t& last) {
  const size_t end = std::min(last + 2, addresses.size());
  for (size_t i = last; i < end; ++i) {
    if (addresses[i].offset == offset) return &addresses[last = i];
  }
  const auto found =
      std::ranges::lower_bound(addresses, offset, {}, &EmbeddedNames::Address::offset);
  if (found == addresses.end() || found->offset != offset) return nullptr;
  last = static_cast<size_t>(found - addresses.begin());
  return &*found;
}

// The one with the byte at `address` that begins nearest to it.
const EmbeddedNames::Piece* FindPiece(const std::vector<EmbeddedNames::Piece>& pieces,
                                      ElfAddress address) {
  const auto after =
      std::ranges::upper_bound(pieces, address.value, {}, &EmbeddedNames::Piece::address);
  if (after == pieces.begin()) return nullptr;
  const EmbeddedNames::Piece& piece = *std::prev(after);
  return address.value - piece.address < piece.bytes.size() ? &piece : nullptr;
}

class EmbeddedSymbolizer final : public Symbolizer {
 public:
  EmbeddedSymbolizer(EmbeddedNames names, std::unique_ptr<Symbolizer> files,
                     EmbeddedOptions options)
      : names_(std::move(names)), files_(std::move(files)), options_(options) {
    options_.inlines = options_.inlines && names_.has_lines;
    shown_.resize(names_.strings.size());
    for (const EmbeddedNames::Image& image : names_.images) {
      by_place_[{image.kind, std::string(names_.strings[image.path]),
                 std::string(TextOf(image.build_id)), image.pid}] = &image;
    }
  }

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override { return At(id).spec; }
  Naming Name(ImageId id, FileOffset offset) override;
  Naming NameAt(ImageId id, ElfAddress address) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  CodeBytes CodeAt(ImageId id, ElfAddress address, uint64_t size) override;
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    files_->SetKernelReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    files_->AddKernelSymbol(start, size, name);
  }

 private:
  struct Image {
    ImageSpec spec;
    const EmbeddedNames::Image* names = nullptr;  // null: none
    std::optional<ImageId> in_files;              // empty until it is needed
    std::vector<JitCode> codes;                   // that the recording has
    // Of names->addresses and names->instructions: the one found last.
    size_t last_address = 0, last_instruction = 0;
  };
  // Kind, path, build-id, process.
  using Place = std::tuple<uint8_t, std::string, std::string, uint32_t>;

  Image& At(ImageId id) { return images_[static_cast<size_t>(id)]; }
  const Image& At(ImageId id) const { return images_[static_cast<size_t>(id)]; }

  const EmbeddedNames::Image* Find(const ImageSpec& spec) const;
  template <class InFile>
  Naming NameWithFiles(Image& image, const EmbeddedNames::Address* address, InFile in_file);
  ImageId InFiles(Image& image);
  bool FilesKnowBest(const ImageSpec& spec) const;
  Naming FromRecording(const Image& image, const EmbeddedNames::Address& address);
  void AddFunctions(const Image& image, const EmbeddedNames::Address& address,
                    const EmbeddedNames::Symbol& symbol);
  std::string_view ShownName(const Image& image, StringId id);

  const EmbeddedNames names_;
  const std::unique_ptr<Symbolizer> files_;
  EmbeddedOptions options_;
  std::map<Place, const EmbeddedNames::Image*> by_place_;
  std::deque<Image> images_;
  std::map<const EmbeddedNames::Image*, ImageId> ids_;  // of images with names
  std::map<ImageId, ImageId> ids_of_files_;             // of the others, by that of files_
  std::vector<NamedFunction> found_;
  std::vector<std::string_view> shown_;  // demangled names, by StringId; null: not yet
  std::deque<std::string> made_names_;   // never moves a string
};

const EmbeddedNames::Image* EmbeddedSymbolizer::Find(const ImageSpec& spec) const {
  for (const uint32_t pid : {spec.pid, uint32_t{0}}) {
    const auto it = by_place_.find(
        {static_cast<uint8_t>(spec.kind), spec.path, std::string(TextOf(spec.build_id)), pid});
    if (it != by_place_.end()) return it->second;
  }
  return nullptr;
}

ImageId EmbeddedSymbolizer::AddImage(const ImageSpec& spec) {
  const ImageId next{static_cast<uint32_t>(images_.size())};
  if (const EmbeddedNames::Image* names = Find(spec)) {
    const auto [it, is_new] = ids_.try_emplace(names, next);
    if (is_new) images_.push_back({.spec = spec, .names = names});
    return it->second;
  }
  const ImageId in_files = files_->AddImage(spec);
  const auto [it, is_new] = ids_of_files_.try_emplace(in_files, next);
  if (is_new) images_.push_back({.spec = spec, .in_files = in_files});
  return it->second;
}

ImageId EmbeddedSymbolizer::InFiles(Image& image) {
  if (!image.in_files) image.in_files = files_->AddImage(image.spec);
  return *image.in_files;
}

// Files without a build-id may have changed, and process numbers come again.
bool EmbeddedSymbolizer::FilesKnowBest(const ImageSpec& spec) const {
  return options_.files == Files::kFirst && !spec.build_id.empty();
}

Naming EmbeddedSymbolizer::Name(ImageId id, FileOffset offset) {
  Image& image = At(id);
  const auto in_file = [&] { return files_->Name(InFiles(image), offset); };
  if (image.names == nullptr) return in_file();
  return NameWithFiles(image, FindAddress(image.names->addresses, offset.value, image.last_address),
                       in_file);
}

Naming EmbeddedSymbolizer::NameAt(ImageId id, ElfAddress address) {
  Image& image = At(id);
  const auto in_file = [&] { return files_->NameAt(InFiles(image), address); };
  if (image.names == nullptr) return in_file();
  return NameWithFiles(
      image, FindAddress(image.names->instructions, address.value, image.last_instruction),
      in_file);
}

CodeBytes EmbeddedSymbolizer::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  Image& image = At(id);
  const EmbeddedNames::Piece* const piece =
      image.names == nullptr ? nullptr : FindPiece(image.names->pieces, address);
  if (piece == nullptr) return files_->CodeAt(InFiles(image), address, size);
  const uint64_t distance = address.value - piece->address;
  const std::span<const std::byte> bytes = std::span(piece->bytes).subspan(distance);
  return {Reason::kNamed,
          bytes.first(std::min<uint64_t>(size, bytes.size())),
          {piece->offset + distance},
          image.names->machine};
}

// What the recording says, where the files, which `in_file` asks, do not know better.
template <class InFile>
Naming EmbeddedSymbolizer::NameWithFiles(Image& image, const EmbeddedNames::Address* address,
                                         InFile in_file) {
  if (address == nullptr) return in_file();
  const bool named = ReasonOf(address->reason) == Reason::kNamed;
  if (FilesKnowBest(image.spec)) {
    const Naming naming = in_file();
    const bool loses_lines =
        naming.reason == Reason::kNamed && address->line != 0 && naming.functions[0].line == 0;
    if (naming.reason == Reason::kNamed ? !loses_lines : naming.unnamed_size != 0 && !named) {
      return naming;
    }
  } else if (!named && options_.files != Files::kForOthers) {
    const Naming naming = in_file();
    if (naming.reason == Reason::kNamed) return naming;
  }
  return FromRecording(image, *address);
}

// Where the recording has addresses that were hit, it has the code there, and all others lie where
// nothing was.
absl::StatusOr<std::span<const JitCode>> EmbeddedSymbolizer::JitCodes(ImageId dump) {
  Image& image = At(dump);
  const bool has_addresses = image.names != nullptr && !image.names->addresses.empty();
  if (!has_addresses) return files_->JitCodes(InFiles(image));
  if (!names_.is_complete) {
    auto codes = files_->JitCodes(InFiles(image));
    if (codes.ok()) return codes;
  }
  image.codes.clear();
  for (const EmbeddedNames::Code& code : image.names->codes) {
    image.codes.push_back({code.time, image.spec.pid, {code.start}, code.size, {code.offset}});
  }
  return image.codes;
}

Naming EmbeddedSymbolizer::FromRecording(const Image& image,
                                         const EmbeddedNames::Address& address) {
  static constexpr EmbeddedNames::Symbol kNowhere;
  const auto& symbols = image.names->symbols;
  const auto at = [&](uint32_t index) -> const EmbeddedNames::Symbol& {
    return index == EmbeddedNames::kNone ? kNowhere : symbols[index];
  };
  const EmbeddedNames::Symbol& neighbour = at(address.neighbour);
  const EmbeddedNames::Symbol* symbol = &at(address.symbol);
  const uint64_t measured_from =
      symbol == &kNowhere ? neighbour.start : symbol->start;  // as NameCollector had it told
  const uint64_t code = measured_from + address.distance;
  const bool by_neighbour = !options_.bounded_symbols && address.neighbour != EmbeddedNames::kNone;
  if (by_neighbour) symbol = &neighbour;

  Naming naming;
  if (symbol != &kNowhere || &neighbour != &kNowhere) naming.address = ElfAddress{code};
  naming.distance = symbol == &neighbour ? code - neighbour.start : address.distance;
  const bool has_name = by_neighbour || (ReasonOf(address.reason) == Reason::kNamed &&
                                         address.symbol != EmbeddedNames::kNone);
  if (!has_name || (!symbol->in_symbol_table && !options_.inlines)) {
    naming.reason = ReasonOf(address.reason);
    if (naming.reason == Reason::kNamed) naming.reason = Reason::kNoSymbol;
    naming.distance = 0;
    if (options_.function_starts && symbol->size != 0) {
      naming.unnamed_start = {symbol->start};
      naming.unnamed_size = symbol->size;
      naming.distance = address.distance;
    } else if (address.neighbour != EmbeddedNames::kNone) {
      naming.distance = code - neighbour.start;
    }
  } else {
    naming.reason = Reason::kNamed;
    naming.without_symbol = !symbol->in_symbol_table;
    AddFunctions(image, address, *symbol);
    naming.functions = found_;
  }
  if (options_.bounded_symbols && address.neighbour != EmbeddedNames::kNone) {
    naming.neighbour.name = ShownName(image, neighbour.name);
    naming.neighbour.start = {neighbour.start};
    naming.neighbour.size = neighbour.size;
  }
  return naming;
}

void EmbeddedSymbolizer::AddFunctions(const Image& image, const EmbeddedNames::Address& address,
                                      const EmbeddedNames::Symbol& symbol) {
  found_.clear();
  const auto add = [&](StringId name, StringId file, uint32_t line, bool inlined) {
    NamedFunction& function = found_.emplace_back();
    function.name = ShownName(image, name);
    function.start = {symbol.start};
    function.size = symbol.size;
    function.inlined = inlined;
    if (!options_.inlines && image.spec.kind != ImageKind::kJitDump) return;
    function.file = names_.strings[file];
    function.line = line;
  };
  StringId file = address.file;
  uint32_t line = address.line;
  const auto& inlined = image.names->inlined;
  for (uint32_t i = options_.inlines ? address.inlined : EmbeddedNames::kNone;
       i != EmbeddedNames::kNone; i = inlined[i].caller) {
    add(inlined[i].name, file, line, true);
    file = inlined[i].file;
    line = inlined[i].line;
  }
  add(symbol.name, file, line, false);
}

// Names of the kernel and of JIT code are not mangled.
std::string_view EmbeddedSymbolizer::ShownName(const Image& image, StringId id) {
  constexpr std::string_view kStub = "@plt";
  const std::string_view name = names_.strings[id];
  const bool may_be_mangled =
      image.spec.kind == ImageKind::kUser || image.spec.kind == ImageKind::kVdso;
  if (!options_.demangle || !may_be_mangled || !name.starts_with('_')) return name;
  std::string_view& shown = shown_[static_cast<uint32_t>(id)];
  if (shown.data() != nullptr) return shown;
  std::string_view linked = name;
  if (name.ends_with(kStub)) linked.remove_suffix(kStub.size());
  std::string text = Demangle(linked);
  text += name.substr(linked.size());
  return shown = made_names_.emplace_back(std::move(text));
}

}  // namespace

std::unique_ptr<Symbolizer> CreateEmbeddedSymbolizer(EmbeddedNames names,
                                                     std::unique_ptr<Symbolizer> files,
                                                     EmbeddedOptions options) {
  return std::make_unique<EmbeddedSymbolizer>(std::move(names), std::move(files), options);
}

}  // namespace profiler::symbolize
