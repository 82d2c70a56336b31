// The store of facts behind all names of a run: what a recording carries, what the cache keeps, and
// what files say, whichever knows.
//
//   recording (NAMES, CODE) ─┐
//   cache, image by image   ─┼─▶ facts of an address ──▶ Presenter ──▶ Naming
//   files                   ─┘          │
//                                       └──▶ kept, for a recording or the cache

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "symbolize/address_facts.h"
#include "symbolize/names/facts_builder.h"
#include "symbolize/names/name_cache.h"
#include "symbolize/names/name_facts.h"
#include "symbolize/names/present.h"
#include "symbolize/names/stored_facts.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

// What files are asked for, where a recording carries facts. The cache counts as files.
enum class FilesName : uint8_t {
  kOthers,   // addresses that the recording says nothing of: an image of which it says everything
             // is not opened
  kUnnamed,  // those that it has no name for, too
  kFirst,    // files with the recorded build-id know best, the recording helps out
};

struct NameSources {
  std::unique_ptr<FactSource> files;  // never null
  std::optional<NameFacts> recorded;  // section NAMES
  std::optional<NameCache> cache;
  FilesName files_name = FilesName::kOthers;
};

// Answers are those that the machine gave on which the facts were found, on whatever machine.
// Whether images of one path are one image is taken from the recording as well, so that rows are
// those of the recorded machine. Not thread-safe.
class NameStore final : public Symbolizer {
 public:
  NameStore(NameSources sources, const PresentOptions& options);

  ImageId AddImage(const ImageSpec& spec) override;
  const ImageSpec& image(ImageId id) const override;
  void WillName(ImageId id, std::span<const CodePlace> places) override;
  Naming Name(ImageId id, CodePlace place) override;
  Naming NameAt(ImageId id, ElfAddress address) override;
  bool IsSourceOf(ImageId id, ElfAddress address, std::string_view source) override;
  absl::StatusOr<std::span<const JitCode>> JitCodes(ImageId dump) override;
  std::vector<std::string> TakeWarnings() override { return files_->TakeWarnings(); }
  CodeBytes CodeAt(ImageId id, ElfAddress address, uint64_t size) override;
  void SetLife(uint32_t process, const ProcessLife& life) override {
    files_->SetLife(process, life);
  }
  void SetKernelReference(std::string_view symbol, RuntimeAddress address) override {
    files_->SetKernelReference(symbol, address);
  }
  void AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) override {
    files_->AddKernelSymbol(start, size, name);
  }

  // The section CODE of the recording. It goes before files in any case: it is the code of the very
  // file that was recorded.
  void AddCode(NameFacts code);

  // From now on, until Take, everything that is asked for is kept: what Name was asked for becomes
  // `addresses` of NameFacts, what NameAt was, `instructions`, and what CodeAt was, `pieces`.
  // Images have to be added again. `go_on` is asked before each Name and each CodeAt, so that the
  // instructions of code that is kept are named to the last; once it says no, nothing is named and
  // nothing kept any more.
  void Keep(std::function<bool()> go_on);
  NameFacts Take();

  // Puts what files said since the store was made, or since the last call, into the cache.
  void SaveToCache();

 private:
  struct Image {
    Image(const ImageSpec& image, StoredImage* known) : spec(image), recorded(known) {}

    const ImageSpec spec;
    StoredImage* const recorded;      // null: the recording says nothing of it
    StoredImage* code = nullptr;      // likewise
    std::optional<ImageId> in_files;  // empty until it is needed
    bool cache_was_read = false;
    std::optional<TrustedFile> cache_key;        // with the build-id; empty: nothing of it is kept
    std::unique_ptr<StoredFacts> cache_file;     // null: none
    StoredImage* cached = nullptr;               // in it
    std::optional<NameFactsBuilder> from_files;  // for the cache
    std::vector<JitCode> jit_codes;              // that the recording has
  };
  // What is being kept.
  struct Keeping {
    explicit Keeping(std::function<bool()> may_go_on) : go_on(std::move(may_go_on)) {}
    std::function<bool()> go_on;
    bool is_complete = true;
    NameFactsBuilder builder;
    bool GoesOn() { return is_complete = is_complete && go_on(); }
  };

  Image& At(ImageId id) { return images_[static_cast<size_t>(id)]; }
  const Image& At(ImageId id) const { return images_[static_cast<size_t>(id)]; }
  ImageId IdOf(const ImageSpec& spec);
  ImageId InFiles(Image& image);
  AddressFacts FindInFiles(ImageId id, CodePlace place);
  void ReadCache(Image& image);
  bool AsksFiles(const Image& image, const AddressFacts& recorded) const;
  template <class AskFiles>
  AddressFacts Choose(const Image& image, const std::optional<AddressFacts>& recorded,
                      AskFiles ask_files) const;

  const std::unique_ptr<FactSource> files_;
  const std::unique_ptr<StoredFacts> recorded_;  // null: none
  std::unique_ptr<StoredFacts> code_;            // likewise
  const FilesName files_name_;
  const bool has_lines_;
  Presenter presenter_;
  std::deque<Image> images_;
  std::map<const StoredImage*, ImageId> ids_of_recorded_;
  std::map<ImageId, ImageId> ids_of_files_;  // of the images that are not recorded
  std::optional<NameCache> cache_;
  std::optional<Keeping> keeping_;
};

// Names from files alone.
std::unique_ptr<Symbolizer> CreateSymbolizer(const SymbolizerOptions& options);

}  // namespace profiler::symbolize
