#include "symbolize/unwind/frame_section.h"

#include <algorithm>
#include <string_view>

#include "symbolize/unwind/dwarf_reader.h"

namespace profiler::symbolize {
namespace {

constexpr uint32_t kWideLength = 0xffffffff;
constexpr uint8_t kNoColumn = 255;

// Reads the augmentation data of a CIE; each letter after 'z' has its own data.
void ReadAugmentation(std::string_view letters, DwarfReader data, CommonEntry* common) {
  for (const char letter : letters) {
    switch (letter) {
      case 'R':
        common->pointer_encoding = data.Read<uint8_t>();
        break;
      case 'S':
        common->signal_frame = true;
        break;
      case 'L':  // encoding of the pointer to language-specific data
        data.Skip(1);
        break;
      case 'P': {  // only the length of the personality routine's pointer matters
        const auto encoding = data.Read<uint8_t>();
        data.Pointer(encoding & kPointerFormat, 0);
        break;
      }
      case 'B':  // return addresses are signed with the B key
      case 'G':  // tagged stack
        break;
      default:
        return;  // unknown letter, so the rest cannot be parsed
    }
  }
}

}  // namespace

// The part of an entry that begins with its id. Offsets are relative to the section.
struct FrameSection::Entry {
  bool is_common = false;
  uint64_t common_offset = 0;  // offset of an FDE's CIE
  uint64_t body_offset = 0;    // offset of the first byte after the id
  std::span<const std::byte> body;
  uint64_t next = 0;
};

std::optional<FrameSection::Entry> FrameSection::ReadEntry(uint64_t offset) const {
  if (offset >= bytes_.size()) return std::nullopt;
  DwarfReader reader(bytes_.subspan(offset));
  uint64_t length = reader.Read<uint32_t>();
  const bool wide = length == kWideLength;
  if (wide) length = reader.Read<uint64_t>();
  if (!reader.ok() || length > reader.remaining()) return std::nullopt;
  const uint64_t id_offset = offset + reader.offset();
  Entry entry;
  entry.next = id_offset + length;
  if (length == 0) return entry;
  DwarfReader content(bytes_.subspan(id_offset, length));
  if (kind_ == kEhFrame) {
    const auto distance = content.Read<uint32_t>();
    entry.is_common = distance == 0;
    entry.common_offset = id_offset - distance;
  } else {
    const uint64_t id = wide ? content.Read<uint64_t>() : content.Read<uint32_t>();
    entry.is_common = id == (wide ? ~uint64_t{0} : uint64_t{0xffffffff});
    entry.common_offset = id;
  }
  if (!content.ok()) return std::nullopt;
  entry.body_offset = id_offset + content.offset();
  entry.body = bytes_.subspan(entry.body_offset, content.remaining());
  return entry;
}

std::optional<uint64_t> FrameSection::Next(uint64_t offset) const {
  const std::optional<Entry> entry = ReadEntry(offset);
  if (!entry) return std::nullopt;
  return entry->next;
}

std::optional<CommonEntry> FrameSection::ReadCommon(uint64_t offset) const {
  if (offset != last_common_offset_) {
    last_common_offset_ = offset;
    const std::optional<Entry> entry = ReadEntry(offset);
    last_common_ = entry && entry->is_common ? ParseCommon(*entry) : std::nullopt;
  }
  return last_common_;
}

std::optional<CommonEntry> FrameSection::ParseCommon(const Entry& entry) const {
  DwarfReader reader(entry.body, address_size_);
  CommonEntry common;
  const auto version = reader.Read<uint8_t>();
  if (version != 1 && version != 3 && version != 4) return std::nullopt;
  const std::string_view augmentation = reader.ReadCString();
  if (version == 4) {
    if (reader.Read<uint8_t>() != address_size_) return std::nullopt;
    if (reader.Read<uint8_t>() != 0) return std::nullopt;  // segment size
  }
  common.code_alignment = reader.Uleb();
  common.data_alignment = reader.Sleb();
  const uint64_t column = version == 1 ? reader.Read<uint8_t>() : reader.Uleb();
  common.return_address = static_cast<uint8_t>(std::min<uint64_t>(column, kNoColumn));
  if (augmentation.starts_with('z')) {
    common.has_augmentation_data = true;
    const DwarfReader data(reader.ReadBytes(reader.Uleb()), address_size_);
    ReadAugmentation(augmentation.substr(1), data, &common);
  } else if (!augmentation.empty()) {
    return std::nullopt;  // unknown format, so the start of instructions is unknown
  }
  if (!reader.ok()) return std::nullopt;
  common.instructions = reader.ReadBytes(reader.remaining());
  return common;
}

std::optional<FunctionEntry> FrameSection::ReadFunction(uint64_t offset) const {
  const std::optional<Entry> entry = ReadEntry(offset);
  if (!entry || entry->is_common || entry->body.empty()) return std::nullopt;
  const std::optional<CommonEntry> common = ReadCommon(entry->common_offset);
  if (!common) return std::nullopt;
  FunctionEntry function;
  function.common = *common;
  DwarfReader reader(entry->body, address_size_);
  const uint8_t encoding = common->pointer_encoding;
  function.start = reader.Pointer(encoding, address_ + entry->body_offset);
  function.size = reader.Pointer(encoding & kPointerFormat, 0);
  if (common->has_augmentation_data) reader.ReadBytes(reader.Uleb());
  if (!reader.ok() || function.size > ~function.start) return std::nullopt;
  function.instructions = reader.ReadBytes(reader.remaining());
  return function;
}

}  // namespace profiler::symbolize
