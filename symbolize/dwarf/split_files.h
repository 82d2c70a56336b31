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

// Opens the alternate file of `files.debug`, made by dwz and named by .gnu_debugaltlink. Looks for
// it by build-id in the debug directories and among fetched files, and by its path if names are
// followed. Null if no file has that build-id.
std::unique_ptr<OpenedFile> OpenAlternate(const DebugInfoFiles& files);

// Returns true if a split file has the entries of the unit.
bool IsSkeleton(const OpenUnit& unit);

// The split units of skeletons, in files of two kinds:
//
//   .dwo   one file per unit, at the path in the skeleton or beside the image
//   .dwp   one file for all units, `IMAGE.dwp`
//
// There are none if names are not followed. Split units live as long as this object. Not
// thread-safe.
class SplitFiles {
 public:
  explicit SplitFiles(const DebugInfoFiles& files);

  struct Found {
    DwarfFile* file = nullptr;
    Unit* unit = nullptr;  // null: not found
  };
  // Returns the unit with the id of `skeleton` (a unit of `file`) and binds it. Only the first
  // skeleton with that id gets it.
  Found Find(DwarfFile& file, const OpenUnit& skeleton);

 private:
  Found FindInFile(uint64_t id, const std::string& path);
  Found FindInPackage(uint64_t id);
  void OpenPackage();

  std::unique_ptr<OpenedFile> Open(const std::string& path) const;

  const std::vector<std::string> paths_;  // of the image and of its debug file
  const std::string root_;
  const std::string root_of_names_;
  const bool follow_names_;
  bool looked_for_package_ = false;
  std::unique_ptr<OpenedFile> package_;
  std::map<uint64_t, Contribution> contributions_;            // of the package, by unit id
  std::map<std::string, std::unique_ptr<OpenedFile>> files_;  // by path; null: no such file
};

}  // namespace profiler::symbolize::dwarf
