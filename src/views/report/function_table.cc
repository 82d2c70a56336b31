#include "src/views/report/function_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace profiler::report {

using profile::Frame;
using profile::FrameId;
using profile::ImageId;
using profile::kNoSymbol;
using profile::Line;
using profile::Profile;
using profile::Row;
using profile::Symbol;
using profile::SymbolId;
using symbolize::ImageKind;

class FunctionTable::Builder {
 public:
  Builder(const Profile& profile, FunctionTable& table, bool inlines, ImageNames image_names,
          Growth growth)
      : profile_(profile),
        table_(table),
        inlines_(inlines),
        grows_(growth == Growth::kGrows),
        image_names_(image_names),
        interrupted_(profile.frames.size(), false),
        real_(profile.symbols.size(), kNoFunction),
        nowhere_in_order_(growth == Growth::kIsFixed) {
    for (const Row& row : profile.rows) interrupted_[static_cast<uint32_t>(row.self)] = true;
    for (const profile::BranchRow& branch : profile.branches) {
      interrupted_[static_cast<uint32_t>(branch.from)] = true;
      interrupted_[static_cast<uint32_t>(branch.to)] = true;
    }
    // Most unnamed addresses belong to one frame.
    const size_t unnamed = CountUnnamed();
    table_.functions_.reserve(2 * unnamed + 2 * profile.symbols.size());
    if (!nowhere_in_order_) unnamed_.reserve(unnamed);
  }

  // Adds the functions of all frames that the table does not have yet.
  void AddAll() {
    constexpr uint32_t kAhead = 16;
    interrupted_.resize(profile_.frames.size());
    real_.resize(profile_.symbols.size(), kNoFunction);
    for (auto i = static_cast<uint32_t>(table_.at_.size()); i < profile_.frames.size(); ++i) {
      if (i + kAhead < profile_.frames.size()) Prefetch(profile_.frames[i + kAhead]);
      Add(FrameId{i});
    }
  }

  void NoteInterrupted(FrameId id) {
    FunctionId& function = table_.interrupted_[static_cast<uint32_t>(id)];
    // Only frames without names need that note.
    if (function == kNoFunction) function = Unnamed(profile_[id], profile_[id].place.value);
  }

 private:
  // Prefetches the memory that Add() needs, because look-ups of unnamed addresses miss all caches.
  // Call it some frames before Add().
  void Prefetch(const Frame& frame) const {
    if (frame.line_count == 0 && !nowhere_in_order_) {
      unnamed_.prefetch({frame.image, frame.ip.value});
    }
  }

  void Add(FrameId id) {
    const Frame& frame = profile_[id];
    const bool interrupted = interrupted_[static_cast<uint32_t>(id)];
    const std::span<const Line> lines = profile_.LinesOf(frame);
    if (!Named(lines)) {
      table_.at_.push_back(Unnamed(frame, frame.ip.value));
      table_.interrupted_.push_back(interrupted ? Unnamed(frame, frame.place.value) : kNoFunction);
    } else {
      const SymbolId base = lines.back().symbol;
      const std::span<const Line> inlined = lines.first(inlines_ ? lines.size() - 1 : 0);
      // A sample counts for the innermost line. In a chain, each function has the line of its call.
      const FunctionId real = Real(base, frame, inlined.empty() ? lines.front() : lines.back());
      table_.interrupted_.push_back(inlined.empty()           ? real
                                    : (interrupted || grows_) ? Real(base, frame, lines.front())
                                                              : kNoFunction);
      if (inlined.empty()) {
        table_.at_.push_back(real);
      } else {
        AddList(frame, real, inlined);
      }
    }
  }

  static bool Named(std::span<const Line> lines) {
    return !lines.empty() && lines.back().symbol != kNoSymbol;
  }

  bool Nowhere(const Frame& frame) const {
    return profile_[frame.image].kind == ImageKind::kUnknown;
  }

  // Counts the unnamed frames. In code without frame pointers most addresses are in no mapping. If
  // these addresses are sorted, as in stored sums, comparing each with the previous one finds all
  // duplicates.
  size_t CountUnnamed() {
    size_t unnamed = 0;
    const Frame* last = nullptr;
    for (const Frame& frame : profile_.frames) {
      if (Named(profile_.LinesOf(frame))) continue;
      ++unnamed;
      if (!Nowhere(frame)) continue;
      nowhere_in_order_ = nowhere_in_order_ &&
                          (last == nullptr || (last->image == frame.image && last->ip <= frame.ip));
      last = &frame;
    }
    return unnamed;
  }

  void AddList(const Frame& frame, FunctionId real, std::span<const Line> inlined) {
    std::vector<uint32_t>& lists = table_.lists_;
    const size_t start = lists.size();
    table_.at_.push_back(kLists + static_cast<uint32_t>(start));
    lists.insert(lists.end(), {1, real});
    for (size_t i = inlined.size(); i-- > 0;) {
      if (inlined[i].symbol == kNoSymbol) continue;
      lists.push_back(Inlined(inlined[i], real, frame));
      ++lists[start];
    }
  }

  // The part of a function that a row shows: its name, the shown name of its image, and its mode.
  using NameKey = std::tuple<StringId, StringId, profile::Mode>;

  StringId ImageNameOf(ImageId id) const {
    const profile::Image& image = profile_[id];
    return image_names_ == ImageNames::kPaths ? image.long_name : image.name;
  }
  NameKey KeyOf(SymbolId symbol, const Frame& frame) const {
    const Symbol& named = profile_[symbol];
    return {named.name, ImageNameOf(named.image), frame.mode};
  }

  FunctionId New(Function function, PositionId position) {
    const auto id = static_cast<FunctionId>(table_.functions_.size());
    table_.functions_.push_back(function);
    if (table_.positions_ != nullptr) table_.position_of_.push_back(position);
    return id;
  }

  // Returns the position of a line at a frame; 0 if the report does not need positions.
  PositionId PositionOf(const Frame& frame, SymbolId symbol, const Line& line) {
    if (table_.positions_ == nullptr) return 0;
    Line position = line;
    position.symbol = symbol;
    return table_.positions_->Add(frame, &position);
  }

  FunctionId Real(SymbolId symbol, const Frame& frame, const Line& line) {
    const PositionId position = PositionOf(frame, symbol, line);
    FunctionId& first = real_[static_cast<uint32_t>(symbol)];
    if (first == kNoFunction) {
      // Functions of equal names share a row, even if their addresses differ.
      first = first_of_name_.try_emplace(KeyOf(symbol, frame), kNoFunction).first->second;
    }
    if (table_.positions_ == nullptr && first != kNoFunction) return first;
    FunctionId* id = &first;
    if (table_.positions_ != nullptr) {
      id = &real_at_.try_emplace(std::pair(symbol, position), kNoFunction).first->second;
    }
    if (*id == kNoFunction) {
      const Symbol& named = profile_[symbol];
      // Call graphs do not distinguish positions.
      const uint32_t chain_key =
          first == kNoFunction ? table_.chain_keys_++ : table_.functions_[first].chain_key;
      *id = New({.name = named.name,
                 .image = named.image,
                 .mode = frame.mode,
                 .chain_key = chain_key,
                 .address = named.start.value},
                position);
      if (first == kNoFunction) first = *id;
      first_of_name_.insert_or_assign(KeyOf(symbol, frame), first);
    }
    return *id;
  }

  // Inlined functions have no address of their own, so call graphs compare only their names.
  FunctionId Inlined(const Line& line, FunctionId real, const Frame& frame) {
    const StringId name = profile_[line.symbol].name;
    const PositionId position = PositionOf(frame, line.symbol, line);
    const NameKey key_of_name(name, ImageNameOf(table_.functions_[real].image), frame.mode);
    auto [it, is_new] = inlined_.try_emplace(std::pair(key_of_name, position), kNoFunction);
    if (is_new) {
      const auto [key, new_key] = inlined_keys_.try_emplace(name, table_.chain_keys_);
      if (new_key) ++table_.chain_keys_;
      const Function& into = table_.functions_[real];
      it->second = New({.name = name,
                        .image = into.image,
                        .mode = frame.mode,
                        .inlined = true,
                        .chain_key = key->second,
                        .address = into.address},
                       position);
    }
    return it->second;
  }

  FunctionId Unnamed(const Frame& frame, uint64_t address) {
    FunctionId& id =
        nowhere_in_order_ && Nowhere(frame)
            ? SameAsLast(address)
            : unnamed_.try_emplace(std::pair(frame.image, address), kNoFunction).first->second;
    if (id == kNoFunction) {
      id = New({.image = frame.image,
                .mode = frame.mode,
                .chain_key = table_.chain_keys_++,
                .address = address},
               table_.positions_ == nullptr ? 0 : table_.positions_->Add(frame, nullptr));
    }
    return id;
  }

  FunctionId& SameAsLast(uint64_t address) {
    if (last_nowhere_ != kNoFunction && table_.functions_[last_nowhere_].address != address) {
      last_nowhere_ = kNoFunction;
    }
    return last_nowhere_;
  }

  const Profile& profile_;
  FunctionTable& table_;
  const bool inlines_, grows_;
  const ImageNames image_names_;
  std::vector<bool> interrupted_;  // [frame]: True if it is a row's `self` or an end of a branch
  std::vector<FunctionId> real_;   // indexed by SymbolId
  absl::flat_hash_map<std::pair<SymbolId, PositionId>, FunctionId> real_at_;
  absl::flat_hash_map<NameKey, FunctionId> first_of_name_;
  absl::flat_hash_map<std::pair<NameKey, PositionId>, FunctionId> inlined_;
  absl::flat_hash_map<StringId, uint32_t> inlined_keys_;
  absl::flat_hash_map<std::pair<ImageId, uint64_t>, FunctionId> unnamed_;
  bool nowhere_in_order_;
  FunctionId last_nowhere_ = kNoFunction;
};

FunctionTable::FunctionTable(const Profile& profile, bool inlines, const PositionKeys& positions,
                             ImageNames image_names, Growth growth) {
  if (positions.any()) positions_ = std::make_unique<PositionTable>(profile, positions);
  at_.reserve(profile.frames.size());
  interrupted_.reserve(profile.frames.size());
  auto builder = std::make_unique<Builder>(profile, *this, inlines, image_names, growth);
  builder->AddAll();
  if (positions_ != nullptr) positions_->RankTexts();
  if (growth == Growth::kGrows) builder_ = std::move(builder);
}

FunctionTable::~FunctionTable() = default;

void FunctionTable::Grow(std::span<const FrameId> interrupted) {
  builder_->AddAll();
  for (const FrameId frame : interrupted) builder_->NoteInterrupted(frame);
}

}  // namespace profiler::report
