// Opens the files of a recording: one file, the files of a directory, or a pipe.

#pragma once

#include <string>
#include <vector>

#include "src/base/mapped_file.h"
#include "src/base/status.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/read/recording.h"

namespace profiler::perf_data {

struct OpenedFiles {
  std::string name;               // for messages
  std::vector<MappedFile> files;  // one file, or the files of a directory: data, data.0, data.1, …
  UniqueFd file;                  // a descriptor of the only file, for pread(2); may be missing
  UniqueFd stream;                // instead of files: a pipe whose 16-byte header has been read
  FileHeader header;
  std::vector<std::string> warnings;  // warnings of the ForeignReader
};

// How to read a recording in stream layout that comes through a pipe.
enum class PipeUse {
  kStream,  // read it once, as it arrives
  kSpool,   // first copy it into an unnamed temporary file, so that it can be read again
};

// Maps a regular file that is open for reading; `fd` may be closed afterwards. `name` is for
// messages. Errors: those of mmap(2); kDataLoss if it is no perf.data file.
absl::StatusOr<OpenedFiles> OpenFile(int fd, const std::string& name);

// Opens a path, or standard input for "-". A recording in file layout from a pipe is always copied
// to a temporary file, because its features are at its end. Passes input that is no recording to
// `foreign`, unless that is null. Errors: those of open(2) and of the temporary file; kDataLoss
// if it is no perf.data file.
absl::StatusOr<OpenedFiles> OpenFiles(const std::string& path, PipeUse use,
                                      ForeignReader* foreign = nullptr);

}  // namespace profiler::perf_data
