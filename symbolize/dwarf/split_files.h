// Opens other files that hold parts of a file's debug information: split units and alternate files.

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

// An open file with debug information.
struct OpenedFile {
  MappedFile file;
  ElfImage image;
  std::unique_ptr<DwarfFile> dwarf;
};

// Opens the alternate file of `files.debug`, which dwz makes and .gnu_debugaltlink names. Looks for
// a file with the right build-id in the debug directories and among fetched files. If
// files.follow_names is true, also tries the path in .gnu_debugaltlink. Null if there is no file
// with the build-id.
std::unique_ptr<OpenedFile> OpenAlternate(const DebugInfoFiles& files);

// Returns true if a split file has the entries of the unit.
bool IsSkeleton(const OpenUnit& unit);

// The split units of skeletons, in files of two kinds:
//
//   .dwo   one file per unit, at the path in the skeleton or beside the image
//   .dwp   one file for all units, `IMAGE.dwp`
//
// If DebugInfoFiles::follow_names is false, no split unit is found. Split units live as long as
// this object. Not thread-safe.
class SplitFiles {
 public:
  explicit SplitFiles(const DebugInfoFiles& files);

  struct Found {
    DwarfFile* file = nullptr;
    Unit* unit = nullptr;  // null: not found
  };
  // Returns the split unit that has the id of `skeleton`, which is a unit of `file`, and gives it
  // the skeleton's parts (DwarfFile::Bind). If several skeletons have that id, only the first gets
  // the unit.
  Found Find(DwarfFile& file, const OpenUnit& skeleton);

 private:
  Found FindInFile(uint64_t id, const std::string& path);
  Found FindInPackage(uint64_t id);
  void OpenPackage();

  std::unique_ptr<OpenedFile> Open(const std::string& path) const;

  const std::vector<std::string> paths_;  // paths of the image and of its debug file
  const std::string root_;
  const std::string root_of_names_;
  const bool follow_names_;
  bool looked_for_package_ = false;
  std::unique_ptr<OpenedFile> package_;
  std::map<uint64_t, Contribution> contributions_;            // the package's units, keyed by id
  std::map<std::string, std::unique_ptr<OpenedFile>> files_;  // keyed by path; null: no such file
};

}  // namespace profiler::symbolize::dwarf
