#include "symbolize/hotspot/vm_structs.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"

namespace profiler::symbolize::hotspot {
namespace {

constexpr size_t kLongestText = 256;
constexpr size_t kLongestEntry = 256;  // largest size of an entry of a table, in bytes

std::string KeyOf(std::string_view type, std::string_view field) {
  return absl::StrCat(View(type), "::", View(field));
}

template <class Value>
std::optional<Value> Find(const absl::flat_hash_map<std::string, Value>& map,
                          std::string_view name) {
  const auto found = map.find(View(name));
  return found == map.end() ? std::nullopt : std::optional<Value>(found->second);
}

}  // namespace

class VmStructs::Reader {
 public:
  Reader(ProcessMemory& memory, const FindVariable& find) : memory_(memory), find_(find) {}

  bool ReadAll(VmStructs& all) {
    return ReadFields(all) && ReadTypes(all) && ReadConstants<int32_t>("Int", all) &&
           ReadConstants<int64_t>("Long", all);
  }

 private:
  using Entry = std::array<std::byte, kLongestEntry>;

  std::optional<uint64_t> Variable(std::string_view name) {
    const std::optional<uint64_t> address = find_(name);
    return address ? memory_.Value<uint64_t>(*address) : std::nullopt;
  }
  // Returns the offset of a member, which has `size` bytes, in an entry.
  std::optional<size_t> Member(std::string_view name, size_t size) {
    const std::optional<uint64_t> offset = Variable(name);
    if (!offset || *offset > kLongestEntry - size) return std::nullopt;
    return static_cast<size_t>(*offset);
  }
  template <class T>
  static T Get(const Entry& entry, size_t offset) {
    T value;
    std::memcpy(&value, entry.data() + offset, sizeof(value));
    return value;
  }

  // Reads a string in pieces that do not cross a page boundary, because the next page may not
  // exist.
  std::optional<std::string> Text(uint64_t address) {
    if (address == 0) return std::nullopt;
    std::string text;
    while (text.size() < kLongestText) {
      std::array<char, 64> piece;
      const size_t size = piece.size() - address % piece.size();
      if (!memory_.Read(address, std::as_writable_bytes(std::span(piece)).first(size))) {
        return std::nullopt;
      }
      const std::string_view part(piece.data(), size);
      const size_t end = part.find('\0');
      text += part.substr(0, end);
      if (end != std::string_view::npos) return text;
      address += size;
    }
    return std::nullopt;
  }

  // Calls `take` for each entry of a table, up to the one with a null name.
  template <class Take>
  bool ForEachEntry(std::string_view table, std::string_view stride_name, size_t name_offset,
                    Take take) {
    const std::optional<uint64_t> start = Variable(table);
    const std::optional<uint64_t> stride = Variable(stride_name);
    if (!start || *start == 0 || !stride || *stride == 0 || *stride > kLongestEntry) return false;
    Entry entry{};
    for (size_t i = 0; i < kMostEntries; ++i) {
      if (!memory_.Read(*start + i * *stride, std::span(entry).first(*stride))) return false;
      if (Get<uint64_t>(entry, name_offset) == 0) return true;
      take(entry);
    }
    return false;
  }

  bool ReadFields(VmStructs& all) {
    const auto type = Member("gHotSpotVMStructEntryTypeNameOffset", 8);
    const auto field = Member("gHotSpotVMStructEntryFieldNameOffset", 8);
    const auto type_of_field = Member("gHotSpotVMStructEntryTypeStringOffset", 8);
    const auto is_static = Member("gHotSpotVMStructEntryIsStaticOffset", 4);
    const auto offset = Member("gHotSpotVMStructEntryOffsetOffset", 8);
    const auto address = Member("gHotSpotVMStructEntryAddressOffset", 8);
    if (!type || !field || !type_of_field || !is_static || !offset || !address) return false;
    return ForEachEntry(
        "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", *type, [&](const Entry& entry) {
          const auto type_name = Text(Get<uint64_t>(entry, *type));
          const auto field_name = Text(Get<uint64_t>(entry, *field));
          if (!type_name || !field_name) return;
          std::string key = KeyOf(*type_name, *field_name);
          if (Get<int32_t>(entry, *is_static) != 0) {
            all.addresses_.try_emplace(std::move(key), Get<uint64_t>(entry, *address));
            return;
          }
          if (auto text = Text(Get<uint64_t>(entry, *type_of_field))) {
            all.types_.try_emplace(key, *std::move(text));
          }
          all.offsets_.try_emplace(std::move(key), Get<uint64_t>(entry, *offset));
        });
  }

  bool ReadTypes(VmStructs& all) {
    const auto name = Member("gHotSpotVMTypeEntryTypeNameOffset", 8);
    const auto size = Member("gHotSpotVMTypeEntrySizeOffset", 8);
    if (!name || !size) return false;
    return ForEachEntry("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", *name,
                        [&](const Entry& entry) {
                          if (auto text = Text(Get<uint64_t>(entry, *name))) {
                            all.sizes_.try_emplace(*std::move(text), Get<uint64_t>(entry, *size));
                          }
                        });
  }

  template <class Value>
  bool ReadConstants(std::string_view kind, VmStructs& all) {
    const std::string prefix = absl::StrCat("gHotSpotVM", View(kind), "Constant");
    const auto name = Member(prefix + "EntryNameOffset", 8);
    const auto value = Member(prefix + "EntryValueOffset", sizeof(Value));
    if (!name || !value) return false;
    return ForEachEntry(prefix + "s", prefix + "EntryArrayStride", *name, [&](const Entry& entry) {
      if (auto text = Text(Get<uint64_t>(entry, *name))) {
        all.constants_.try_emplace(*std::move(text), Get<Value>(entry, *value));
      }
    });
  }

  ProcessMemory& memory_;
  const FindVariable& find_;
};

std::optional<VmStructs> VmStructs::Read(ProcessMemory& memory, const FindVariable& find) {
  VmStructs all;
  if (!Reader(memory, find).ReadAll(all)) return std::nullopt;
  return all;
}

std::optional<uint64_t> VmStructs::Offset(std::string_view type, std::string_view field) const {
  return Find(offsets_, KeyOf(type, field));
}
std::optional<std::string> VmStructs::TypeOf(std::string_view type, std::string_view field) const {
  return Find(types_, KeyOf(type, field));
}
std::optional<uint64_t> VmStructs::Address(std::string_view type, std::string_view field) const {
  return Find(addresses_, KeyOf(type, field));
}
std::optional<uint64_t> VmStructs::Size(std::string_view type) const { return Find(sizes_, type); }
std::optional<int64_t> VmStructs::Constant(std::string_view name) const {
  return Find(constants_, name);
}

}  // namespace profiler::symbolize::hotspot
