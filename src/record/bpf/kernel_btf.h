// Finds members of the kernel's structures in its type information (BTF), by name. libbpf's
// relocations do this too, but read all types into tables first, which takes longer than all the
// rest of loading a program.
//
//   │ header │ types: name, kind, size or type, members… │ … │ names, NUL-terminated │
//
// Source: Documentation/bpf/btf.rst, include/uapi/linux/btf.h, Linux 6.18.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/status.h"

namespace profiler::record {

// Returns the kernel's type information. Errors carry the errno of the system call: ENOENT if the
// kernel was built without CONFIG_DEBUG_INFO_BTF.
absl::StatusOr<std::vector<std::byte>> ReadKernelBtf();

// Returns the offset in bytes of a member. `path` is the name of a structure, of its member, of that
// one's member, and so on. Error: kNotFound if there is no such member, or if the information is
// malformed. Linear in the size of `btf`.
absl::StatusOr<uint32_t> OffsetInKernel(std::span<const std::byte> btf,
                                        std::span<const std::string_view> path);

}  // namespace profiler::record
