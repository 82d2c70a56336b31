// Derives a kernel module's name from the path of its file.

#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace profiler {

// Returns "nf_conntrack" for /lib/modules/…/nf-conntrack.ko.xz and for [nf_conntrack], the kernel's
// own spelling. '-' and '_' mean the same in a module's name.
inline std::string ModuleName(std::string_view path) {
  if (path.starts_with('[')) {
    path.remove_prefix(1);
    return std::string(path.substr(0, path.find(']')));
  }
  path.remove_prefix(path.rfind('/') + 1);
  std::string name(path.substr(0, path.find(".ko")));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace profiler
