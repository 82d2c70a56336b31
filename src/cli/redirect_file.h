// A file that leads a browser to an address which nobody else may know.
//
// A command line is for all users to read (/proc/PID/cmdline), so a browser gets the name of this
// file instead, as with Jupyter:
//
//   $XDG_RUNTIME_DIR/profiler-XXXXXX/open.html     directory 0700, file 0600; $TMPDIR or /tmp
//                                                  without a runtime directory of this user's own

#pragma once

#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/base/unlink_on_signal.h"

namespace profiler::cli {

// File and directory go with this object; if SIGINT, SIGTERM or SIGHUP ends the process, the file
// does.
class RedirectFile {
 public:
  // `url` is ASCII. Errors: those of mkdtemp(3), open(2) and write(2).
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
