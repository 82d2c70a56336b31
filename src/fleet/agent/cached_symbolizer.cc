#include "src/fleet/agent/cached_symbolizer.h"

#include <iterator>
#include <utility>

namespace profiler::agent {
namespace {

using symbolize::ImageId;
using symbolize::ImageKind;
using symbolize::ImageSpec;

constexpr ImageId kNone{UINT32_MAX};

bool Stays(const ImageSpec& spec) {
  switch (spec.kind) {
    case ImageKind::kUser:
      return !spec.build_id.empty();
    case ImageKind::kVdso:
    case ImageKind::kKernel:
    case ImageKind::kModule:
    case ImageKind::kBpf:
      return true;
    case ImageKind::kJit:
    case ImageKind::kJitDump:
    case ImageKind::kAnonymous:
    case ImageKind::kUnknown:
    case ImageKind::kNoCode:
      return false;
  }
  return false;
}

}  // namespace

CachedSymbolizer::CachedSymbolizer(MakeFacts make_facts, const symbolize::PresentOptions& options)
    : make_facts_(std::move(make_facts)),
      options_(options),
      lasting_(MakeStore()),
      passing_(MakeStore()) {}

std::unique_ptr<symbolize::NameStore> CachedSymbolizer::MakeStore() const {
  return std::make_unique<symbolize::NameStore>(symbolize::NameSources{.files = make_facts_()},
                                                options_);
}

void CachedSymbolizer::BeginWindow() {
  passing_ = MakeStore();
  places_.clear();
  of_lasting_.assign(of_lasting_.size(), kNone);
  of_passing_.clear();
}

void CachedSymbolizer::Renew() {
  lasting_ = MakeStore();
  of_lasting_.clear();
  kernel_functions_.clear();
  kernel_reference_.clear();
  BeginWindow();
}

// Gives images consecutive ids in each window, because a profile has a table row for each id.
ImageId CachedSymbolizer::AddImage(const ImageSpec& spec) {
  const bool stays = Stays(spec);
  symbolize::NameStore* const store = stays ? lasting_.get() : passing_.get();
  std::vector<ImageId>& known = stays ? of_lasting_ : of_passing_;
  const ImageId in_store = store->AddImage(spec);
  const auto index = static_cast<uint32_t>(in_store);
  if (index >= known.size()) known.resize(index + 1, kNone);
  if (known[index] == kNone) {
    known[index] = ImageId{static_cast<uint32_t>(places_.size())};
    places_.push_back({store, in_store});
  }
  return known[index];
}

const ImageSpec& CachedSymbolizer::image(ImageId id) const {
  return At(id).store->image(At(id).id);
}

void CachedSymbolizer::WillName(ImageId id, std::span<const CodePlace> places) {
  At(id).store->WillName(At(id).id, places);
}

symbolize::Naming CachedSymbolizer::Name(ImageId id, CodePlace place) {
  return At(id).store->Name(At(id).id, place);
}

symbolize::Naming CachedSymbolizer::NameAt(ImageId id, ElfAddress address) {
  return At(id).store->NameAt(At(id).id, address);
}

absl::StatusOr<std::span<const symbolize::JitCode>> CachedSymbolizer::JitCodes(ImageId dump) {
  return At(dump).store->JitCodes(At(dump).id);
}

std::vector<std::string> CachedSymbolizer::TakeWarnings() {
  std::vector<std::string> warnings = lasting_->TakeWarnings();
  for (std::string& warning : passing_->TakeWarnings()) warnings.push_back(std::move(warning));
  return warnings;
}

symbolize::CodeBytes CachedSymbolizer::CodeAt(ImageId id, ElfAddress address, uint64_t size) {
  return At(id).store->CodeAt(At(id).id, address, size);
}

void CachedSymbolizer::SetLife(uint32_t process, const symbolize::ProcessLife& life) {
  lasting_->SetLife(process, life);
  passing_->SetLife(process, life);
}

void CachedSymbolizer::SetKernelReference(std::string_view symbol, RuntimeAddress address) {
  if (symbol == kernel_reference_ && address == kernel_reference_address_) return;
  kernel_reference_ = symbol;
  kernel_reference_address_ = address;
  lasting_->SetKernelReference(symbol, address);
}

bool CachedSymbolizer::Learn(uint64_t start, uint64_t size, std::string_view name) {
  const auto same = kernel_functions_.find(start);
  if (same != kernel_functions_.end() && same->second.size == size && same->second.name == name) {
    return false;
  }
  auto at = kernel_functions_.lower_bound(start);
  if (at != kernel_functions_.begin()) {
    const auto before = std::prev(at);
    if (start - before->first < before->second.size) at = before;
  }
  while (at != kernel_functions_.end() && (at->first < start || at->first - start < size)) {
    at = kernel_functions_.erase(at);
  }
  kernel_functions_[start] = {size, std::string(name)};
  return true;
}

void CachedSymbolizer::AddKernelSymbol(RuntimeAddress start, uint64_t size, std::string_view name) {
  if (Learn(start.value, size, name)) lasting_->AddKernelSymbol(start, size, name);
}

}  // namespace profiler::agent
