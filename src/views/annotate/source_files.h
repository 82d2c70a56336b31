// Reads source files that debug information names.
//
// Debug information can name any file, and annotate often runs as root. A page with source lines is
// passed on, so a secret of root must not appear as the source of another user's program. A file is
// read only if
//
//   a local program or its debug file, owned by root or the user, says that its code comes from the
//   file (a recording's statement does not count), and
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

#include "src/base/mapped_file.h"
#include "src/views/annotate/annotation.h"
#include "src/views/annotate/listing.h"
#include "symbolize/symbolizer.h"

namespace profiler::annotate {

class SourceFiles {
 public:
  // Permits the source files of the function's instructions, if local programs name them.
  // `symbolizer` must be that of Annotate. Cost: a look-up for each new file of the image.
  void Permit(const AnnotatedFunction& function, symbolize::Symbolizer& symbolizer);

  // Returns the text of a line without its line break. Returns nothing if the file is missing, not
  // permitted, larger than 16 MiB, or has no such line. Reads each file once.
  std::optional<std::string_view> Line(std::string_view path, uint32_t number);
  // Returns Line() as a function, which must not outlive this object.
  SourceText Text();

  // Returns a message for each reason why existing files were not read; empty if all were read.
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
  std::set<std::string, std::less<>> unproved_;   // files that no local program names
  std::set<std::string, std::less<>> of_others_;  // files that another user owns
};

}  // namespace profiler::annotate
