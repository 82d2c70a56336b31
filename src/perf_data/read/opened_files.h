// From a path to the bytes of a recording: a file, the files of a directory, or a pipe.

#pragma once

#include <string>
#include <vector>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/format/file_header.h"
#include "src/perf_data/read/recording.h"

namespace profiler::perf_data {

struct OpenedFiles {
  std::string name;               // for messages
  std::vector<MappedFile> files;  // of a directory: `data`, then data.0, data.1, …; else one
  UniqueFd stream;                // instead of files: a pipe whose header of 16 bytes has been read
  FileHeader header;
  std::vector<std::string> warnings;  // of who made the recording of a foreign file
};

// What becomes of a recording in stream layout that comes through a pipe.
enum class PipeUse {
  kStream,  // it is read once, as it comes
  kSpool,   // it is put into an unnamed temporary file first
};

// A regular file that is open already, for reading too; `fd` may be closed afterwards. `name`: for
// messages. Errors: those of mmap(2); kDataLoss when it is no perf.data.
absl::StatusOr<OpenedFiles> OpenFile(int fd, const std::string& name);

// Opens a path, or standard input for "-". A recording in file layout that comes through a pipe is
// always put into a temporary file: its features are at its end. Errors: those of open(2); those of
// the temporary file; kDataLoss when it is no perf.data.
// What is no recording is handed to `foreign`, if that is given.
absl::StatusOr<OpenedFiles> OpenFiles(const std::string& path, PipeUse use,
                                      ForeignReader* foreign = nullptr);

}  // namespace profiler::perf_data
