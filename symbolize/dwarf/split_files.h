// The other files that a file's debug information is in: split units and alternate files.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/mapped_file.h"
#include "symbolize/dwarf/debug_info.h"
#include "symbolize/dwarf/dwarf_file.h"

namespace profiler::symbolize::dwarf {

// A file with debug information that is open for as long as this.
struct OpenedFile {
  MappedFile file;
  ElfImage image;
  std::unique_ptr<DwarfFile> dwarf;
};

// The alternate file that .gnu_debugaltlink of `files.debug` names, which dwz made: by build-id
// under the debug directories, among the files that were fetched, or by its path, if names are
// followed. Null where there is none with that build-id.
std::unique_ptr<OpenedFile> OpenAlternate(const DebugInfoFiles& files);

// Whether the entries of the unit are in a split file.
bool IsSkeleton(const OpenUnit& unit);

// Finds the units that skeletons stand for:
//
//   .dwo   a file a unit, where the skeleton says, or beside the image
//   .dwp   one for all, `IMAGE.dwp`
//
// None where names are not to be followed. Not thread-safe. Split units live as long as this.
class SplitFiles {
 public:
  explicit SplitFiles(const DebugInfoFiles& files);

  struct Found {
    DwarfFile* file = nullptr;
    Unit* unit = nullptr;  // null: nowhere
  };
  // The unit with the id of `skeleton`, a unit of `file`, bound to it; one skeleton only gets it.
  Found Find(DwarfFile& file, const OpenUnit& skeleton);

 private:
  Found FindInFile(uint64_t id, const std::string& path);
  Found FindInPackage(uint64_t id);
  void OpenPackage();

  std::unique_ptr<OpenedFile> Open(const std::string& path) const;

  const std::vector<std::string> paths_;  // of the image and of the file with its debug information
  const std::string root_;
  const std::string root_of_names_;
  const bool follow_names_;
  bool looked_for_package_ = false;
  std::unique_ptr<OpenedFile> package_;
  std::map<uint64_t, Contribution> contributions_;            // of the package, by id
  std::map<std::string, std::unique_ptr<OpenedFile>> files_;  // by path; null: not there
};

}  // namespace profiler::symbolize::dwarf
