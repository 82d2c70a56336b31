// The text of source files that debug information names.
//
// Debug information can name any file, and whoever annotates is often root. A page with source
// lines is passed on, so a secret of root must not become the source of somebody's program. A file
// is read only if
//
//   a program or its debug file here, of root or of the user, says that its code comes from it
//   (a recording alone does not count), and
//   the file itself belongs to root or to the user.
//
// Not thread-safe.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/annotate/annotation.h"
#include "src/annotate/listing.h"
#include "src/base/mapped_file.h"
#include "symbolize/symbolizer.h"

namespace profiler::annotate {

class SourceFiles {
 public:
  // Permits the files that programs here name as the source of the function's instructions.
  // `symbolizer` is that of Annotate. Cost: a look-up for each file that is new in the image.
  void Permit(const AnnotatedFunction& function, symbolize::Symbolizer& symbolizer);

  // The text of a line without its line break. None if the file is not there, is not permitted, is
  // larger than 16 MiB or has no such line. Each file is read once.
  std::optional<std::string_view> Line(std::string_view path, uint32_t number);
  // Line as a function, which must not outlive this.
  SourceText Text();

  // A line for a person for each reason why files that are there were not read; none if there was
  // no such file.
  std::vector<std::string> Refusals() const;

 private:
  struct File {
    std::unique_ptr<MappedFile> file;
    std::vector<std::string_view> lines;
  };
  File Read(const std::string& path);

  std::set<std::string, std::less<>> permitted_;
  std::set<std::pair<symbolize::ImageId, std::string>> asked_;
  std::map<std::string, File, std::less<>> files_;
  std::set<std::string, std::less<>> unproved_;   // nothing here names them
  std::set<std::string, std::less<>> of_others_;  // another user owns them
};

}  // namespace profiler::annotate
