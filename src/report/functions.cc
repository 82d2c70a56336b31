#include "src/report/functions.h"

#include <utility>

#include "absl/container/flat_hash_map.h"

namespace profiler::report {

using profile::DsoId;
using profile::Frame;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::Symbol;
using profile::SymbolId;

class FunctionTable::Builder {
 public:
  Builder(const Profile& profile, FunctionTable& table)
      : profile_(profile), table_(table), real_(profile.symbols.size(), kNone) {}

  void Add(const Frame& frame, bool inlines) {
    const std::span<const Line> lines = profile_.LinesOf(frame);
    if (lines.empty() || lines.back().symbol == kNoSymbol) {
      table_.at_.push_back(Unnamed(frame, frame.ip.value));
      table_.interrupted_.push_back(Unnamed(frame, frame.offset.value));
    } else {
      const SymbolId base = lines.back().symbol;
      const FunctionId real = Real(base, frame);
      table_.at_.push_back(real);
      table_.interrupted_.push_back(real);
      for (size_t i = lines.size() - 1; inlines && i-- > 0;) {
        if (lines[i].symbol != kNoSymbol) {
          table_.at_.push_back(Inlined(lines[i].symbol, base, real, frame));
        }
      }
    }
    table_.first_.push_back(static_cast<uint32_t>(table_.at_.size()));
  }

 private:
  static constexpr FunctionId kNone = 0xffffffff;

  FunctionId New(Function function) {
    const auto id = static_cast<FunctionId>(table_.functions_.size());
    table_.functions_.push_back(function);
    return id;
  }

  FunctionId Real(SymbolId symbol, const Frame& frame) {
    FunctionId& id = real_[static_cast<uint32_t>(symbol)];
    if (id == kNone) {
      const Symbol& named = profile_[symbol];
      id = New({.name = named.name,
                .dso = named.dso,
                .mode = frame.mode,
                .address = named.start.value,
                .chain_key = table_.chain_keys_++});
    }
    return id;
  }

  // Inlined functions have no place of their own, so call graphs compare their names alone.
  FunctionId Inlined(SymbolId symbol, SymbolId base, FunctionId real, const Frame& frame) {
    const StringId name = profile_[symbol].name;
    auto [it, is_new] = inlined_.try_emplace(std::pair(name, base), kNone);
    if (is_new) {
      const auto [key, new_key] = inlined_keys_.try_emplace(name, table_.chain_keys_);
      if (new_key) ++table_.chain_keys_;
      const Function& into = table_.functions_[real];
      it->second = New({.name = name,
                        .dso = into.dso,
                        .mode = frame.mode,
                        .inlined = true,
                        .address = into.address,
                        .chain_key = key->second});
    }
    return it->second;
  }

  FunctionId Unnamed(const Frame& frame, uint64_t address) {
    auto [it, is_new] = unnamed_.try_emplace(std::pair(frame.dso, address), kNone);
    if (is_new) {
      it->second = New({.dso = frame.dso,
                        .mode = frame.mode,
                        .address = address,
                        .chain_key = table_.chain_keys_++});
    }
    return it->second;
  }

  const Profile& profile_;
  FunctionTable& table_;
  std::vector<FunctionId> real_;  // by symbol
  absl::flat_hash_map<std::pair<StringId, SymbolId>, FunctionId> inlined_;
  absl::flat_hash_map<StringId, uint32_t> inlined_keys_;
  absl::flat_hash_map<std::pair<DsoId, uint64_t>, FunctionId> unnamed_;
};

FunctionTable::FunctionTable(const Profile& profile, bool inlines) {
  first_.reserve(profile.frames.size() + 1);
  at_.reserve(profile.frames.size());
  interrupted_.reserve(profile.frames.size());
  first_.push_back(0);
  Builder builder(profile, *this);
  for (const Frame& frame : profile.frames) builder.Add(frame, inlines);
}

}  // namespace profiler::report
