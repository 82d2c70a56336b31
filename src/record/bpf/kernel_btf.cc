#include "src/record/bpf/kernel_btf.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "src/base/unique_fd.h"

namespace profiler::record {
namespace {

constexpr const char* kPath = "/sys/kernel/btf/vmlinux";
constexpr uint64_t kMostBytes = uint64_t{1} << 28;
constexpr uint32_t kBitsOfByte = 8;

// Returns the number of bytes that follow a type's head; nothing for an unknown kind.
std::optional<size_t> BytesAfter(uint32_t kind, uint32_t count) {
  switch (kind) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case 17:  // BTF_KIND_DECL_TAG
      return 4;
    case BTF_KIND_ARRAY:
      return sizeof(btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case 19:  // BTF_KIND_ENUM64
      return count * sizeof(btf_member);
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
      return count * sizeof(btf_enum);
    case BTF_KIND_PTR:
    case BTF_KIND_FWD:
    case BTF_KIND_TYPEDEF:
    case BTF_KIND_VOLATILE:
    case BTF_KIND_CONST:
    case BTF_KIND_RESTRICT:
    case BTF_KIND_FUNC:
    case BTF_KIND_FLOAT:
    case 18:  // BTF_KIND_TYPE_TAG
      return 0;
    default:
      return std::nullopt;
  }
}

class Types {
 public:
  explicit Types(std::span<const std::byte> btf) {
    btf_header header;
    if (btf.size() < sizeof(header)) return;
    std::memcpy(&header, btf.data(), sizeof(header));
    if (header.magic != BTF_MAGIC || header.hdr_len > btf.size()) return;
    const std::span<const std::byte> rest = btf.subspan(header.hdr_len);
    const auto part = [&](uint64_t offset, uint64_t size) {
      return offset <= rest.size() && size <= rest.size() - offset ? rest.subspan(offset, size)
                                                                   : std::span<const std::byte>();
    };
    types_ = part(header.type_off, header.type_len);
    names_ = part(header.str_off, header.str_len);
    // Number 0 is void.
    starts_.push_back(types_.size());
    for (size_t at = 0; at < types_.size();) {
      const auto type = At<btf_type>(at);
      if (!type) return;
      const auto more = BytesAfter(BTF_INFO_KIND(type->info), BTF_INFO_VLEN(type->info));
      if (!more) return;
      starts_.push_back(at);
      at += sizeof(btf_type) + *more;
    }
  }

  std::optional<uint32_t> Offset(std::span<const std::string_view> path) const {
    for (uint32_t number = 1; number < starts_.size(); ++number) {
      const auto type = At<btf_type>(starts_[number]);
      if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_STRUCT) continue;
      if (NameAt(type->name_off) == path.front()) return Member(number, path.subspan(1), kDepth);
    }
    return std::nullopt;
  }

 private:
  static constexpr int kDepth = 16;  // limit for structures in structures

  template <class T>
  std::optional<T> At(size_t at) const {
    T value;
    if (at > types_.size() || types_.size() - at < sizeof(value)) return std::nullopt;
    std::memcpy(&value, types_.data() + at, sizeof(value));
    return value;
  }

  std::string_view NameAt(size_t at) const {
    if (at >= names_.size()) return {};
    const char* const name = reinterpret_cast<const char*>(names_.data()) + at;
    return {name, strnlen(name, names_.size() - at)};
  }

  // Returns the offset of the member in structure or union `number`, also in its unnamed members.
  std::optional<uint32_t> Member(uint32_t number, std::span<const std::string_view> path,
                                 int depth) const {
    if (path.empty()) return 0;
    if (depth == 0 || number >= starts_.size()) return std::nullopt;
    const size_t start = starts_[number];
    const auto type = At<btf_type>(start);
    if (!type) return std::nullopt;
    const uint32_t kind = BTF_INFO_KIND(type->info);
    if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) return std::nullopt;
    for (uint32_t i = 0; i < BTF_INFO_VLEN(type->info); ++i) {
      const auto member = At<btf_member>(start + sizeof(btf_type) + i * sizeof(btf_member));
      if (!member) return std::nullopt;
      const std::string_view name = NameAt(member->name_off);
      if (!name.empty() && name != path.front()) continue;
      const auto inside = Member(member->type, name.empty() ? path : path.subspan(1), depth - 1);
      if (!inside) continue;
      const uint32_t bits =
          BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;
      return bits / kBitsOfByte + *inside;
    }
    return std::nullopt;
  }

  std::span<const std::byte> types_, names_;
  std::vector<size_t> starts_;  // [n]: place of type n in types_
};

}  // namespace

absl::StatusOr<std::vector<std::byte>> ReadKernelBtf() {
  const UniqueFd file(open(kPath, O_RDONLY | O_CLOEXEC));
  struct stat facts;
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return ErrnoStatus(errno, kPath);
  if (facts.st_size < 0 || static_cast<uint64_t>(facts.st_size) > kMostBytes) {
    return ErrnoStatus(EFBIG, kPath);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(facts.st_size));
  for (size_t size = 0; size < bytes.size();) {
    // sysfs returns a page for each call.
    const ssize_t count = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ErrnoStatus(count < 0 ? errno : EIO, kPath);
    size += static_cast<size_t>(count);
  }
  return bytes;
}

absl::StatusOr<uint32_t> OffsetInKernel(std::span<const std::byte> btf,
                                        std::span<const std::string_view> path) {
  const std::optional<uint32_t> offset = Types(btf).Offset(path);
  if (!offset) return ErrnoStatus(ENOENT, "a member of a structure of the kernel");
  return *offset;
}

}  // namespace profiler::record
