#include "src/perf_data/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/mapped_file.h"
#include "src/base/unique_fd.h"
#include "src/perf_data/byte_source.h"
#include "src/perf_data/chunk_store.h"
#include "src/perf_data/event_table.h"
#include "src/perf_data/features_codec.h"
#include "src/perf_data/file_header.h"
#include "src/perf_data/own_records.h"
#include "src/perf_data/record_pass.h"
#include "src/perf_data/record_walker.h"
#include "src/perf_event/abi.h"

namespace profiler::perf_data {
namespace {

// How many records at the start of a stream are looked at for events and features.
constexpr size_t kMaxPrereadRecords = 4096;

FileLayout LayoutOf(const FileHeader& header) {
  const auto section = [](const FileSection& from) {
    return FileLayout::Section{from.offset, from.size};
  };
  return {.version = header.version,
          .swapped = header.swapped,
          .pipe = header.pipe,
          .attr_entry_size = header.attr_entry_size,
          .attrs = section(header.attrs),
          .data = section(header.data),
          .event_types = section(header.event_types),
          .features = {}};
}

class OpenRecording final : public Recording {
 public:
  OpenRecording(std::string name, std::vector<MappedFile> files, UniqueFd stream,
                const FileHeader& header)
      : name_(std::move(name)),
        files_(std::move(files)),
        stream_fd_(std::move(stream)),
        header_(header),
        events_(header.swapped),
        layout_(LayoutOf(header)) {}

  // Exactly one of these, first.
  absl::Status ReadFileHeader();
  void ReadMappedStreamStart();
  void ReadPipeStart(uint64_t offset);

  const std::vector<EventDescription>& events() const override { return events_.events(); }
  const Features& features() const override { return features_; }
  const FileLayout& layout() const override { return layout_; }
  absl::Status ForEach(Order order, absl::FunctionRef<void(const TimedRecord&)> visit) override;
  const std::vector<std::string>& warnings() const override { return warnings_; }

 private:
  // Records of one file: [begin, end) of files_[file].
  struct Part {
    size_t file = 0;
    uint64_t begin = 0, end = 0;
  };
  struct Preread {
    StoredRecord record;
    std::span<const std::byte> payload;
  };

  std::span<const std::byte> file() const { return files_.front().bytes(); }
  void Warn(std::string text) { warnings_.push_back(absl::StrCat(name_, ": ", text)); }

  absl::Status ReadEvents();
  void ReadFeatures(uint64_t table_offset);
  void NameEvents();
  Part FindData();
  bool EmptyOnPurpose() const;
  void Collect(RecordWalker& walker, std::vector<Preread>* preread);
  PassContext Context(ChunkStore* chunks);
  absl::Status HowItEnded(const RecordWalker& walker);
  absl::Status RunFiles(RecordPass& pass, ChunkStore* chunks);
  absl::Status RunStream(RecordPass& pass);

  const std::string name_;
  std::vector<MappedFile> files_;
  const UniqueFd stream_fd_;
  const FileHeader header_;
  EventTable events_;
  Features features_;
  FileLayout layout_;
  std::vector<Part> parts_;
  bool cut_ = false;  // the end is missing, which has been said
  std::vector<std::string> warnings_;
  size_t warnings_of_open_ = 0;
  uint64_t collected_ = 0;

  // Of a pipe:
  ChunkStore stream_chunks_;
  std::unique_ptr<RecordWalker> stream_walker_;
  std::vector<Preread> preread_;
};

absl::Status OpenRecording::ReadFileHeader() {
  PROFILER_RETURN_IF_ERROR(ReadEvents());
  parts_.push_back(FindData());
  if (!cut_) ReadFeatures(parts_.front().end);
  NameEvents();
  // A directory: its further files hold nothing but records.
  for (size_t i = 1; i < files_.size(); ++i) parts_.push_back({i, 0, files_[i].bytes().size()});
  warnings_of_open_ = warnings_.size();
  return absl::OkStatus();
}

absl::Status OpenRecording::ReadEvents() {
  absl::StatusOr<std::vector<AttrEntry>> entries = DecodeAttrs(file(), header_);
  if (!entries.ok()) {
    return absl::DataLossError(absl::StrCat(name_, ": ", entries.status().message()));
  }
  size_t ids_left = file().size() / sizeof(uint64_t);  // entries may point at the same ids
  bool unknown_tail = false;
  for (const AttrEntry& entry : *entries) {
    unknown_tail |= entry.unknown_tail.find_first_not_of('\0') != std::string::npos;
    std::vector<uint64_t> ids = DecodeIds(file(), header_, entry.ids, ids_left);
    ids_left -= ids.size();
    events_.Add(entry.attr, {}, std::move(ids));
  }
  if (unknown_tail) Warn("its events have settings of a newer kernel, which are ignored");
  return absl::OkStatus();
}

// The data section; what the header says of its end is true only of a recording that was ended.
OpenRecording::Part OpenRecording::FindData() {
  const uint64_t size = file().size();
  const uint64_t begin = std::min(header_.data.offset, size);
  const uint64_t left = size - begin;
  if (header_.data.size == 0 && left != 0 && !EmptyOnPurpose()) {
    cut_ = true;
    Warn("the recording was not ended (its data size is 0); all whole records are read");
    return {0, begin, size};
  }
  if (header_.data.size > left) {
    cut_ = true;
    Warn(absl::StrCat("the file is cut: ", header_.data.size - left, " of ", header_.data.size,
                      " bytes of records and all features are missing; what is there is read"));
    return {0, begin, size};
  }
  return {0, begin, begin + header_.data.size};
}

// A recording without any record: its table of features is where the records would be.
bool OpenRecording::EmptyOnPurpose() const {
  const uint64_t table_size = header_.features.count() * sizeof(FileSection);
  FieldReader table(BytesInside(file(), {header_.data.offset, table_size}), header_.swapped);
  const FileSection first = table.Section();
  return table_size != 0 && table.ok() && first.offset == header_.data.offset + table_size;
}

void OpenRecording::ReadFeatures(uint64_t table_offset) {
  const size_t count = header_.features.count();
  FieldReader table(BytesInside(file(), {table_offset, count * sizeof(FileSection)}),
                    header_.swapped);
  size_t unreadable = 0;
  for (int bit = 0; bit < kFeatureBits; ++bit) {
    if (!header_.features[bit]) continue;
    const FileSection section = table.Section();
    if (table.ok()) layout_.features.push_back({bit, {section.offset, section.size}});
    const std::span<const std::byte> bytes = BytesInside(file(), section);
    const bool whole = table.ok() && bytes.size() == section.size;
    if (!whole || !DecodeFeature(bit, bytes, header_.swapped, &features_)) ++unreadable;
  }
  if (unreadable != 0) {
    Warn(absl::StrCat(unreadable, " of ", count, " feature sections cannot be read"));
  }
}

// From EVENT_DESC, and in old files from the table of event types.
void OpenRecording::NameEvents() {
  FieldReader types(BytesInside(file(), header_.event_types), header_.swapped);
  while (types.remaining() >= kEventTypeSize) {
    const uint64_t config = types.U64();
    const std::string_view name = TextOf(types.Bytes(kEventTypeNameSize));
    events_.RenameConfig(config, std::string(name.substr(0, name.find('\0'))));
  }
  const auto section = features_.other.find(kFeatureEventDesc);
  if (section == features_.other.end()) return;
  const std::vector<EventDesc> descriptions =
      DecodeEventDesc(BytesOfText(section->second), header_.swapped);
  for (size_t i = 0; i < descriptions.size(); ++i) {
    const EventDesc& description = descriptions[i];
    size_t event = events().size();
    if (!description.ids.empty()) event = events_.FindId(description.ids.front());
    if (event == events().size()) event = i;
    if (event < events().size() && !description.name.empty()) {
      events_.RenameEvent(event, description.name);
    }
  }
  features_.other.erase(section);
}

void OpenRecording::ReadMappedStreamStart() {
  cut_ = false;
  parts_.push_back({0, kPipeHeaderSize, file().size()});
  ChunkStore chunks;
  RecordWalker walker(std::make_unique<MappedSource>(file(), kPipeHeaderSize, file().size()),
                      header_.swapped, &chunks);
  Collect(walker, nullptr);
}

void OpenRecording::ReadPipeStart(uint64_t offset) {
  stream_walker_ = std::make_unique<RecordWalker>(
      std::make_unique<StreamSource>(stream_fd_.get(), offset, &stream_chunks_, name_),
      header_.swapped, &stream_chunks_);
  Collect(*stream_walker_, &preread_);
}

// What a stream says in front of its first kernel record, so that events() and features() are there
// from the start.
void OpenRecording::Collect(RecordWalker& walker, std::vector<Preread>* preread) {
  StoredRecord record;
  for (size_t i = 0; i < kMaxPrereadRecords && walker.Next(&record); ++i) {
    if (preread != nullptr) preread->push_back({record, walker.payload()});
    if (record.header.type < perf_event::kRecordUserFirst) return;
    ++collected_;
    CollectOwnRecord(record, walker.payload(), header_.swapped, false, &events_, &features_);
  }
}

PassContext OpenRecording::Context(ChunkStore* chunks) {
  PassContext context;
  context.events = &events_;
  context.features = &features_;
  context.chunks = chunks;
  context.files = &files_;
  context.swapped = header_.swapped;
  context.events_known = !header_.pipe;
  context.has_rounds = files_.size() <= 1;
  context.collected = &collected_;
  return context;
}

absl::Status OpenRecording::ForEach(Order order,
                                    absl::FunctionRef<void(const TimedRecord&)> visit) {
  warnings_.resize(warnings_of_open_);
  const uint64_t unknown_ids_before = events_.unknown_ids();
  ChunkStore own_chunks;
  const bool streaming = stream_fd_.valid();
  ChunkStore* const chunks = streaming ? &stream_chunks_ : &own_chunks;
  RecordPass pass(Context(chunks), order, visit);
  absl::Status status = streaming ? RunStream(pass) : RunFiles(pass, chunks);
  pass.Finish();
  if (const uint64_t unknown = events_.unknown_ids() - unknown_ids_before; unknown != 0) {
    Warn(absl::StrCat(unknown, " records have an id that no event has; they count for ",
                      events().empty() ? "no event" : events().front().name));
  }
  if (pass.gave_order_up()) {
    Warn("too much was compressed without a round's end: records may be out of time order");
  }
  if (events().empty() && warnings_.empty() && status.ok()) Warn("it has no events");
  return status;
}

absl::Status OpenRecording::RunFiles(RecordPass& pass, ChunkStore* chunks) {
  absl::Status first_error;
  for (const Part& part : parts_) {
    RecordWalker walker(
        std::make_unique<MappedSource>(files_[part.file].bytes(), part.begin, part.end),
        header_.swapped, chunks);
    pass.Run(walker);
    first_error.Update(HowItEnded(walker));
  }
  return first_error;
}

absl::Status OpenRecording::RunStream(RecordPass& pass) {
  if (stream_walker_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(name_, ": a pipe can be read once"));
  }
  for (const Preread& preread : preread_) pass.Take(preread.record, preread.payload);
  preread_.clear();
  pass.Run(*stream_walker_);
  absl::Status status = HowItEnded(*stream_walker_);
  stream_walker_.reset();
  return status;
}

absl::Status OpenRecording::HowItEnded(const RecordWalker& walker) {
  if (!walker.status().ok()) {
    return absl::Status(walker.status().code(),
                        absl::StrCat(name_, ": ", walker.status().message()));
  }
  if (walker.cut_bytes() == 0 || cut_) return absl::OkStatus();
  const std::string what = absl::StrCat("offset ", walker.offset(), ": the last record is cut");
  if (header_.pipe || files_.size() > 1) {
    Warn(what);
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(name_, ": ", what, ": its field size is past the end of the data section"));
}

// --- opening -----------------------------------------------------------------------------------

// The number N of a file data.N, -1 for other names.
int DataFileNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "data.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return -1;
  name.remove_prefix(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// DIR/data and DIR/data.N, in this order (perf record --threads).
absl::StatusOr<std::vector<MappedFile>> MapDirectory(const std::string& path) {
  std::vector<int> numbers;
  DIR* const directory = opendir(path.c_str());
  if (directory == nullptr) return ErrnoStatus(errno, path);
  while (const dirent* entry = readdir(directory)) {
    if (const int number = DataFileNumber(entry->d_name); number >= 0) numbers.push_back(number);
  }
  closedir(directory);
  std::sort(numbers.begin(), numbers.end());
  std::vector<MappedFile> files;
  PROFILER_ASSIGN_OR_RETURN(MappedFile header_file, MappedFile::Open(path + "/data"));
  files.push_back(std::move(header_file));
  for (int number : numbers) {
    PROFILER_ASSIGN_OR_RETURN(MappedFile file,
                              MappedFile::Open(absl::StrCat(path, "/data.", number)));
    files.push_back(std::move(file));
  }
  return files;
}

// The number of bytes that read(2) gives until `size` or the end.
absl::StatusOr<size_t> ReadFully(int fd, std::span<std::byte> buffer, const std::string& name) {
  size_t have = 0;
  while (have < buffer.size()) {
    const ssize_t count = read(fd, buffer.data() + have, buffer.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) break;
    have += count;
  }
  return have;
}

// A recording in file layout that comes through a pipe: its features are at its end, so it is put
// into a file without a name first.
absl::StatusOr<MappedFile> Spool(std::span<const std::byte> start, int fd,
                                 const std::string& name) {
  const char* directory = std::getenv("TMPDIR");
  if (directory == nullptr || *directory == '\0') directory = "/tmp";
  UniqueFd spool(open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!spool.valid()) spool = UniqueFd(memfd_create("perf.data", MFD_CLOEXEC));
  if (!spool.valid()) return ErrnoStatus(errno, absl::StrCat("no temporary file in ", directory));
  std::vector<std::byte> buffer(1 << 20);
  size_t have = start.size();
  std::copy(start.begin(), start.end(), buffer.begin());
  while (have > 0) {
    for (size_t done = 0; done < have;) {
      const ssize_t count = write(spool.get(), buffer.data() + done, have - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrnoStatus(errno, absl::StrCat("cannot write to ", directory));
      done += count;
    }
    PROFILER_ASSIGN_OR_RETURN(have, ReadFully(fd, buffer, name));
  }
  return MappedFile::FromFd(spool.get(), name);
}

absl::StatusOr<FileHeader> DecodeNamedHeader(std::span<const std::byte> bytes,
                                             const std::string& name) {
  absl::StatusOr<FileHeader> header = DecodeFileHeader(bytes);
  if (header.ok()) return header;
  return absl::DataLossError(absl::StrCat(name, ": ", header.status().message()));
}

absl::StatusOr<std::unique_ptr<Recording>> OpenFiles(std::vector<MappedFile> files,
                                                     const std::string& name) {
  PROFILER_ASSIGN_OR_RETURN(const FileHeader header,
                            DecodeNamedHeader(files.front().bytes(), name));
  auto recording = std::make_unique<OpenRecording>(name, std::move(files), UniqueFd(), header);
  if (header.pipe) {
    recording->ReadMappedStreamStart();
  } else {
    PROFILER_RETURN_IF_ERROR(recording->ReadFileHeader());
  }
  return recording;
}

absl::StatusOr<std::unique_ptr<Recording>> OpenPipe(UniqueFd fd, const std::string& name) {
  std::byte start[kPipeHeaderSize];
  PROFILER_ASSIGN_OR_RETURN(const size_t size, ReadFully(fd.get(), start, name));
  const std::span<const std::byte> bytes = std::span(start).first(size);
  const absl::StatusOr<FileHeader> header = DecodeFileHeader(bytes);
  if (header.ok() && header->pipe) {
    auto recording =
        std::make_unique<OpenRecording>(name, std::vector<MappedFile>(), std::move(fd), *header);
    recording->ReadPipeStart(size);
    return recording;
  }
  std::vector<MappedFile> files;
  PROFILER_ASSIGN_OR_RETURN(MappedFile file, Spool(bytes, fd.get(), name));
  files.push_back(std::move(file));
  return OpenFiles(std::move(files), name);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Recording>> Recording::Open(const std::string& path) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : path;
  UniqueFd fd(standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                             : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, name);
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return ErrnoStatus(errno, name);
  std::vector<MappedFile> files;
  if (S_ISDIR(status.st_mode)) {
    PROFILER_ASSIGN_OR_RETURN(files, MapDirectory(path));
  } else if (S_ISREG(status.st_mode)) {
    PROFILER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::FromFd(fd.get(), name));
    files.push_back(std::move(file));
  } else {
    return OpenPipe(std::move(fd), name);
  }
  return OpenFiles(std::move(files), name);
}

}  // namespace profiler::perf_data
