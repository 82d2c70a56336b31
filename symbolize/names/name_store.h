// The source of all names of a run: combines facts from a recording, the cache and files.
//
//   recording (NAMES, CODE) ─┐
//   cache, image by image   ─┼─▶ facts of an address ──▶ NameFormatter ──▶ Naming
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

// The addresses for which files are asked, or the cache in place of files.
enum class FilesName : uint8_t {
  // Addresses about which the recording has no facts. Images whose addresses all have facts are not
  // opened.
  kOthers,
  // Also addresses that have no name in the recording.
  kUnnamed,
  // Also all addresses of images with a recorded build-id. The recording's facts are used if files
  // have no name for an address.
  kFirst,
};

struct NameSources {
  std::unique_ptr<FactSource> files;  // never null
  std::optional<NameFacts> recorded;  // section NAMES of the recording; empty: it has none
  std::optional<NameCache> cache;
  FilesName files_name = FilesName::kOthers;
};

// A symbolizer that answers from the recorded facts, so that names are the same on any machine. The
// recording also decides whether images with the same path are one image, so that rows equal those
// of the recorded machine. Not thread-safe.
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

  // Adds the recording's section CODE. It always has priority over files, because it is the code of
  // the recorded file itself.
  void AddCode(NameFacts code);

  // Starts to keep all answers, until Take: places given to Name become `addresses` of NameFacts,
  // addresses given to NameAt become `instructions`, and answers of CodeAt become `pieces`. Images
  // have to be added again. Calls `go_on` before each Name and CodeAt, but not before NameAt, so
  // that all instructions of kept code get names. After `go_on` returns false, nothing is named or
  // kept any more.
  void Keep(std::function<bool()> go_on);
  NameFacts Take();

  // Writes to the cache all facts that files gave since the last call, or since construction.
  void SaveToCache();

 private:
  struct Image {
    Image(const ImageSpec& image, StoredImage* known) : spec(image), recorded(known) {}

    const ImageSpec spec;
    StoredImage* const recorded;      // facts of the recording; null: it has none
    StoredImage* code = nullptr;      // code of the recording; null: it has none
    std::optional<ImageId> in_files;  // the image's number in `files_`; empty until it is needed
    bool cache_was_read = false;
    // Identifies the file together with the build-id. Empty: nothing of the image is cached.
    std::optional<TrustedFile> cache_key;
    std::unique_ptr<StoredFacts> cache_file;     // the image's file in the cache; null: none
    StoredImage* cached = nullptr;               // the image in `cache_file`
    std::optional<NameFactsBuilder> from_files;  // facts to be written to the cache
    std::vector<JitCode> jit_codes;              // code of the dump, from the recording
  };
  // State between Keep and Take.
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
  const std::unique_ptr<StoredFacts> recorded_;  // facts of the recording; null: none
  std::unique_ptr<StoredFacts> code_;            // the recording's section CODE; null: none
  const FilesName files_name_;
  const bool has_lines_;
  NameFormatter presenter_;
  std::deque<Image> images_;
  std::map<const StoredImage*, ImageId> ids_of_recorded_;
  // Numbers of images that are not recorded, keyed by their number in `files_`.
  std::map<ImageId, ImageId> ids_of_files_;
  std::optional<NameCache> cache_;
  std::optional<Keeping> keeping_;
};

}  // namespace profiler::symbolize
