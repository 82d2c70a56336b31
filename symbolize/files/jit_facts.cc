#include "symbolize/files/jit_facts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/regular_file.h"
#include "src/base/unique_fd.h"
#include "symbolize/files/jit_file.h"
#include "symbolize/image_file.h"

namespace profiler::symbolize {
namespace {

absl::StatusOr<JitDump> ReadJitDump(const std::string& path, const std::string& root,
                                    const ImageSpec& spec, const SymbolizerOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(const UniqueFd file, OpenJitFile(path, root, spec, options));
  return JitDump::Read(file.get(), path);
}

}  // namespace

AddressFacts PerfMaps::Find(const ImageSpec& spec, RuntimeAddress address) {
  const auto [it, is_new] = maps_.try_emplace(spec.pid, nullptr);
  if (is_new) it->second = Read(spec);
  const PerfMap* const map = it->second.get();
  if (map == nullptr) return Unnamed(Reason::kNoImageFile);
  const PerfMap::Function* function = map->Find(address.value);
  if (function == nullptr) return Unnamed(Reason::kNoSymbol);
  return Named({function->name, {function->start}, function->size}, {address.value});
}

std::unique_ptr<PerfMap> PerfMaps::Read(const ImageSpec& spec) {
  const JitMapPlaces places = PlacesOfJitMap(spec, context_.options);
  for (const std::string& path : places.paths) {
    const absl::StatusOr<UniqueFd> file = OpenJitFile(path, places.root, spec, context_.options);
    if (absl::IsFailedPrecondition(file.status())) {
      context_.warnings.push_back(
          absl::StrCat(file.status().message(), ": no names are taken from it"));
    }
    if (!file.ok()) continue;
    absl::StatusOr<PerfMap> map = PerfMap::Read(file->get(), path);
    if (!map.ok()) continue;
    if (map->is_cut()) {
      context_.warnings.push_back(absl::StrCat(
          path, " is larger than any JIT's map: only its first ", PerfMap::kMostFunctions,
          " functions, or ", PerfMap::kMostBytes >> 20, " MiB, are read"));
    }
    return std::make_unique<PerfMap>(*std::move(map));
  }
  return ReadKept(spec);
}

// Does not check the owner, because the recorder checked it while the process lived.
std::unique_ptr<PerfMap> PerfMaps::ReadKept(const ImageSpec& spec) const {
  if (context_.options.kept == nullptr) return nullptr;
  const std::string path = context_.options.kept->FindMap(PidOf(spec.pid));
  if (path.empty()) return nullptr;
  const absl::StatusOr<UniqueFd> file = OpenRegularFile(path);
  if (!file.ok()) return nullptr;
  absl::StatusOr<PerfMap> map = PerfMap::Read(file->get(), path);
  return map.ok() ? std::make_unique<PerfMap>(*std::move(map)) : nullptr;
}

// Reads the dump in the process's file system while the process lives, else in our own.
absl::Status JitDumpFacts::Open(const ImageSpec& spec) {
  const SymbolizerOptions& options = context_.options;
  const std::string process = DirectoryOfProcess(spec, options);
  absl::StatusOr<JitDump> dump = absl::NotFoundError("");
  if (!process.empty()) {
    const std::string root = process + "/root";
    dump = ReadJitDump(root + spec.path, root, spec, options);
  }
  if (!dump.ok()) dump = ReadJitDump(options.symfs + spec.path, "", spec, options);
  if (!dump.ok()) return dump.status();
  reason_ = Reason::kNamed;
  dump_ = *std::move(dump);
  dump_->AdjustTimes(spec.mapped_at);
  if (dump_->is_cut()) {
    context_.warnings.push_back(absl::StrCat(
        spec.path, " is larger than any JIT's dump: only its first ", JitDump::Limits().codes,
        " functions, or ", JitDump::Limits().lines, " lines, are read"));
  }
  return absl::OkStatus();
}

AddressFacts JitDumpFacts::Find(FileOffset offset) {
  if (reason_ != Reason::kNamed) return Unnamed(reason_);
  const JitDump::Function* function = dump_->Find(offset);
  if (function == nullptr) return Unnamed(Reason::kNoSymbol);
  AddressFacts facts =
      Named({function->name, {function->offset.value}, function->size}, {offset.value});
  if (const JitDump::Line* line = JitDump::LineAt(*function, facts.distance())) {
    facts.at = {line->file, line->line};
  }
  if (const JitDump::Place* place = JitDump::PlaceAt(*function, facts.distance())) {
    AddInlinedCalls(*function, *place, facts);
  }
  return facts;
}

// Adds inlined calls. The loop ends, because a call's caller has a smaller index than the call.
void JitDumpFacts::AddInlinedCalls(const JitDump::Function& function, const JitDump::Place& place,
                                   AddressFacts& facts) {
  context_.inlined.clear();
  uint32_t line = place.line;
  for (uint32_t at = place.call; at != JitDump::kNone; at = function.calls[at].caller) {
    const JitDump::Call& call = function.calls[at];
    context_.inlined.push_back({call.name, {call.file, line}});
    line = call.line;
  }
  facts.inlined = context_.inlined;
  facts.at = {function.file, line};
}

CodeBytes JitDumpFacts::CodeAt(FileOffset offset, uint64_t size) const {
  if (reason_ != Reason::kNamed) return {reason_, {}};
  const JitDump::Function* function = dump_->Find(offset);
  if (function == nullptr) return {Reason::kNoSymbol, {}};
  const auto rest = function->code.subspan(offset.value - function->offset.value);
  return {Reason::kNamed, rest.first(std::min<uint64_t>(size, rest.size())), offset,
          dump_->machine()};
}

}  // namespace profiler::symbolize
