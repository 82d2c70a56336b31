// A file that leads a browser to an address that other users must not learn.
//
// All users can read a command line (/proc/PID/cmdline). So the browser gets only the name of this
// file, as with Jupyter:
//
//   $XDG_RUNTIME_DIR/profiler-XXXXXX/open.html     directory 0700, file 0600; in $TMPDIR or /tmp
//                                                  if the user has no runtime directory

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unlink_on_signal.h"

namespace profiler::cli {

// The file and its directory; both are removed with this object. If SIGINT, SIGTERM or SIGHUP ends
// the process, the file is removed.
class RedirectFile {
 public:
  // Creates the file. `url` is ASCII. Errors: those of mkdtemp(3), open(2) and write(2).
  static absl::StatusOr<std::unique_ptr<RedirectFile>> Create(const std::string& url);
  RedirectFile(const RedirectFile&) = delete;
  ~RedirectFile();

  const std::string& path() const { return path_; }
  // "file:///run/user/1000/profiler-Ab3dEf/open.html"
  std::string url() const { return "file://" + path_; }

 private:
  explicit RedirectFile(std::string directory)
      : directory_(std::move(directory)), path_(directory_ + "/open.html"), on_signal_(path_) {}

  const std::string directory_, path_;
  const UnlinkOnSignal on_signal_;
};

}  // namespace profiler::cli
