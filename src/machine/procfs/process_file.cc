#include "src/machine/procfs/process_file.h"

#include "absl/strings/str_cat.h"
#include "src/base/file_access.h"
#include "src/base/raised_capabilities.h"
#include "src/base/text.h"

namespace profiler::procfs {

absl::Status ReadStart(const std::string& path, size_t most, std::string* text) {
  return FileAccess().ReadStart(path, most, text);
}

absl::Status ReadOfProcess(const Roots& roots, uint32_t id, std::string_view name,
                           std::string* text, size_t most) {
  const RaisedCapabilities raised(kToReadProcesses);
  const std::string path = absl::StrCat(roots.proc, "/", id, "/", View(name));
  const bool is_memory = name == "cmdline" || name == "environ";
  return is_memory ? CurrentFileAccess().ReadStart(path, most, text) : ReadStart(path, most, text);
}

}  // namespace profiler::procfs
