#include "symbolize/names/name_store.h"

#include <utility>

#include "symbolize/files/file_facts.h"

namespace profiler::symbolize {
namespace {

std::unique_ptr<StoredFacts> Stored(std::optional<NameFacts> facts) {
  return facts ? std::make_unique<StoredFacts>(*std::move(facts)) : nullptr;
}

}  // namespace

NameStore::NameStore(NameSources sources, const PresentOptions& options)
    : files_(std::move(sources.files)),
      recorded_(Stored(std::move(sources.recorded))),
      files_name_(sources.files_name),
      has_lines_(options.inlines),
      presenter_(options),
      cache_(std::move(sources.cache)) {}

ImageId NameStore::AddImage(const ImageSpec& spec) {
  const ImageId id = IdOf(spec);
  if (keeping_) keeping_->builder.AddImage(id, spec);
  return id;
}

ImageId NameStore::IdOf(const ImageSpec& spec) {
  const ImageId next{static_cast<uint32_t>(images_.size())};
  StoredImage* const recorded = recorded_ == nullptr ? nullptr : recorded_->Find(spec);
  std::optional<ImageId> in_files;
  if (recorded == nullptr) in_files = files_->AddImage(spec);
  const ImageId id = in_files ? ids_of_files_.try_emplace(*in_files, next).first->second
                              : ids_of_recorded_.try_emplace(recorded, next).first->second;
  if (id != next) return id;
  Image& image = images_.emplace_back(spec, recorded);
  image.in_files = in_files;
  if (code_ != nullptr) image.code = code_->Find(spec);
  return id;
}

// Returns the image from the source of files, because that has the latest process of the image.
const ImageSpec& NameStore::image(ImageId id) const {
  const Image& image = At(id);
  return image.in_files ? files_->image(*image.in_files) : image.spec;
}

ImageId NameStore::InFiles(Image& image) {
  if (!image.in_files) image.in_files = files_->AddImage(image.spec);
  return *image.in_files;
}

void NameStore::AddCode(NameFacts code) {
  code_ = std::make_unique<StoredFacts>(std::move(code));
  for (Image& image : images_) image.code = code_->Find(image.spec);
}

// Asks files only about places for which neither the recording nor the cache has facts.
void NameStore::WillName(ImageId id, std::span<const CodePlace> places) {
  if (keeping_ && !keeping_->is_complete) return;
  Image& image = At(id);
  std::vector<CodePlace> unknown;
  for (const CodePlace place : places) {
    std::optional<AddressFacts> recorded;
    if (image.recorded != nullptr) recorded = image.recorded->Find(place);
    if (!recorded || AsksFiles(image, *recorded)) unknown.push_back(place);
  }
  if (unknown.empty()) return;
  if (!image.cache_was_read) ReadCache(image);
  if (image.cached != nullptr) {
    std::erase_if(unknown, [&](CodePlace place) { return image.cached->Find(place).has_value(); });
  }
  if (!unknown.empty()) files_->WillFind(InFiles(image), unknown);
}

Naming NameStore::Name(ImageId id, CodePlace place) {
  if (keeping_ && !keeping_->GoesOn()) return {};
  Image& image = At(id);
  std::optional<AddressFacts> recorded;
  if (image.recorded != nullptr) recorded = image.recorded->Find(place);
  const AddressFacts facts = Choose(image, recorded, [&] { return FindInFiles(id, place); });
  if (keeping_) keeping_->builder.AddAddress(id, place, facts);
  return presenter_.Present(facts, image.spec.kind);
}

// Reads the cache on the first look-up in an image, because most mapped images never have one.
void NameStore::ReadCache(Image& image) {
  image.cache_was_read = true;
  if (!cache_ || !cache_->MayKeep(image.spec)) return;
  image.cache_key = files_->TrustedFileOf(InFiles(image));
  if (!image.cache_key) return;
  image.cache_file = Stored(cache_->Read(image.spec, *image.cache_key));
  if (image.cache_file != nullptr) image.cached = image.cache_file->Find(image.spec);
}

AddressFacts NameStore::FindInFiles(ImageId id, CodePlace place) {
  Image& image = At(id);
  if (!image.cache_was_read) ReadCache(image);
  if (image.cached != nullptr) {
    if (const auto facts = image.cached->Find(place)) return *facts;
  }
  const AddressFacts facts = files_->Find(InFiles(image), place);
  if (!image.cache_key) return facts;
  constexpr ImageId kOnly{};
  if (!image.from_files) image.from_files.emplace().AddImage(kOnly, image.spec);
  image.from_files->AddAddress(kOnly, place, facts);
  return facts;
}

Naming NameStore::NameAt(ImageId id, ElfAddress address) {
  if (keeping_ && !keeping_->is_complete) return {};
  Image& image = At(id);
  std::optional<AddressFacts> recorded;
  if (image.code != nullptr) recorded = image.code->FindAt(address);
  const AddressFacts facts =
      Choose(image, recorded, [&] { return files_->FindAt(InFiles(image), address); });
  if (keeping_) keeping_->builder.AddInstruction(id, address, facts);
  return presenter_.Present(facts, image.spec.kind);
}

bool NameStore::IsSourceOf(ImageId id, ElfAddress address, std::string_view source) {
  const ImageId in_files = InFiles(At(id));
  const AddressFacts facts = files_->FindAt(in_files, address);
  bool is_said = facts.at.file == source;
  for (const AddressFacts::Inlined& call : facts.inlined) is_said |= call.at.file == source;
  return is_said && files_->AreFilesTrusted(in_files);
}

// Returns true if files are asked although the recording has facts. Files come before a name of the
// recording only if the image has a build-id, because nothing else identifies a file: files without
// one may have changed, and pids are reused.
bool NameStore::AsksFiles(const Image& image, const AddressFacts& recorded) const {
  if (files_name_ == FilesName::kFirst && !image.spec.build_id.empty()) return true;
  return recorded.reason != Reason::kNamed && files_name_ != FilesName::kOthers;
}

// Returns the recording's facts, unless files know more.
template <class AskFiles>
AddressFacts NameStore::Choose(const Image& image, const std::optional<AddressFacts>& recorded,
                               AskFiles ask_files) const {
  if (!recorded) return ask_files();
  const bool is_named = recorded->reason == Reason::kNamed;
  const bool knows_best = files_name_ == FilesName::kFirst && !image.spec.build_id.empty();
  if (!AsksFiles(image, *recorded)) return *recorded;
  const AddressFacts facts = ask_files();
  if (facts.reason == Reason::kNamed) {
    const bool loses_lines = facts.innermost().line == 0 && recorded->innermost().line != 0;
    return loses_lines ? *recorded : facts;
  }
  return knows_best && facts.function && !is_named ? facts : *recorded;
}

CodeBytes NameStore::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  if (keeping_ && !keeping_->GoesOn()) return {};
  Image& image = At(id);
  CodeBytes code;
  if (image.code != nullptr) code = image.code->CodeAt(address, size);
  if (code.bytes.empty()) code = files_->CodeAt(InFiles(image), address, size);
  if (keeping_ && !code.bytes.empty()) keeping_->builder.AddPiece(id, address, code);
  return code;
}

// If the recording is complete and has addresses of a dump, the recorded code suffices, because no
// sample lies in other code.
absl::StatusOr<std::span<const JitCode>> NameStore::JitCodes(ImageId dump) {
  Image& image = At(dump);
  const bool is_recorded = image.recorded != nullptr && !image.recorded->image().addresses.empty();
  absl::StatusOr<std::span<const JitCode>> codes = std::span<const JitCode>();
  if (!is_recorded || !recorded_->is_complete()) codes = files_->JitCodes(InFiles(image));
  if (is_recorded && (recorded_->is_complete() || !codes.ok())) {
    image.jit_codes.clear();
    for (const NameFacts::Code& code : image.recorded->image().codes) {
      image.jit_codes.push_back(
          {code.time, PidOf(image.spec.pid), code.start, code.size, code.offset});
    }
    codes = image.jit_codes;
  }
  if (keeping_ && codes.ok()) keeping_->builder.SetCodes(dump, *codes);
  return codes;
}

void NameStore::Keep(std::function<bool()> go_on) { keeping_.emplace(std::move(go_on)); }

NameFacts NameStore::Take() {
  NameFacts facts = keeping_->builder.Take(has_lines_, keeping_->is_complete);
  keeping_.reset();
  return facts;
}

void NameStore::SaveToCache() {
  std::vector<NameCache::Found> found;
  for (Image& image : images_) {
    if (!image.from_files) continue;
    NameFacts facts = image.from_files->Take(/*has_lines=*/true, /*is_complete=*/true);
    image.from_files.reset();
    found.push_back({image.spec, *image.cache_key, std::move(facts)});
  }
  if (cache_) cache_->Add(found);
}

}  // namespace profiler::symbolize
