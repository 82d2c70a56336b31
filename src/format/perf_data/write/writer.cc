#include "src/format/perf_data/write/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/base/byte_reader.h"
#include "src/base/uninterrupted.h"
#include "src/base/unique_fd.h"
#include "src/format/perf_data/format/features_codec.h"
#include "src/format/perf_data/format/field_io.h"
#include "src/format/perf_data/format/file_header.h"
#include "src/format/perf_data/format/perf_data_format.h"
#include "src/format/perf_data/write/compressing_writer.h"
#include "src/format/perf_data/write/stream_writer.h"
#include "src/format/perf_data/write/write_pieces.h"
#include "src/format/perf_event/abi.h"
#include "src/format/perf_event/codec.h"

namespace profiler::perf_data {
namespace {

class FileWriter final : public Writer {
 public:
  FileWriter(std::string path, UniqueFd fd, std::vector<EventToWrite> events, size_t id_capacity);

  absl::Status WriteStart();
  absl::Status AddIds(size_t event, std::span<const uint64_t> ids) override;
  absl::Status Append(std::span<const std::span<const std::byte>> pieces) override;
  absl::Status FinishRound() override;
  absl::Status Finish(const Features& features) override;
  absl::Status AppendSection(int bit, std::string_view section) override;
  int readable_file() const override;
  uint64_t bytes_written() const override { return end_; }

 private:
  // The position of an event's ids in the file, and the number of ids that fit there.
  struct IdRoom {
    uint64_t offset = 0;
    size_t capacity = 0;
  };

  absl::Status Undo(uint64_t end, absl::Status why);
  absl::Status EndRound();
  absl::Status WriteHeader();
  std::string AttrEntries() const;
  std::string FeaturesTail(const Features& features);

  const std::string path_;
  const UniqueFd fd_;
  std::vector<EventToWrite> events_;
  std::vector<IdRoom> id_rooms_;  // indexed by event
  FileHeader header_;
  uint32_t attr_size_ = 0;
  uint64_t end_ = 0;  // position of the next record
};

FileWriter::FileWriter(std::string path, UniqueFd fd, std::vector<EventToWrite> events,
                       size_t id_capacity)
    : path_(std::move(path)), fd_(std::move(fd)), events_(std::move(events)) {
  std::vector<perf_event::Attr> attrs;
  uint64_t offset = kFileHeaderSize;
  for (const EventToWrite& event : events_) {
    attrs.push_back(event.attr);
    id_rooms_.push_back({offset, event.ids.size() + id_capacity});
    offset += id_rooms_.back().capacity * sizeof(uint64_t);
  }
  attr_size_ = CommonAttrSize(attrs);
  header_.attr_entry_size = attr_size_ + sizeof(FileSection);
  header_.attrs = {offset, events_.size() * header_.attr_entry_size};
  header_.data = {offset + header_.attrs.size, 0};
  end_ = header_.data.offset;
}

// Writes the start in one call, so that a killed process leaves either an empty file or a
// recording. The next recording keeps this file only if it is not empty.
absl::Status FileWriter::WriteStart() {
  std::string start(TextOf(EncodeFileHeader(header_)));
  for (size_t i = 0; i < events_.size(); ++i) {
    start.resize(id_rooms_[i].offset);
    start += TextOf(std::as_bytes(std::span(events_[i].ids)));
  }
  start.resize(header_.attrs.offset);
  start += AttrEntries();
  PROFILER_RETURN_IF_ERROR(WriteAt(fd_.get(), 0, BytesOfText(start), path_));
  if (lseek(fd_.get(), static_cast<off_t>(end_), SEEK_SET) < 0) return WriteError(errno, path_);
  return absl::OkStatus();
}

absl::Status FileWriter::WriteHeader() {
  return WriteAt(fd_.get(), 0, EncodeFileHeader(header_), path_);
}

std::string FileWriter::AttrEntries() const {
  std::string entries;
  FieldWriter writer(&entries);
  for (size_t i = 0; i < events_.size(); ++i) {
    WriteSizedAttr(events_[i].attr, attr_size_, &entries);
    writer.U64(id_rooms_[i].offset);
    writer.U64(std::min(events_[i].ids.size(), id_rooms_[i].capacity) * sizeof(uint64_t));
  }
  return entries;
}

absl::Status FileWriter::AddIds(size_t event, std::span<const uint64_t> ids) {
  if (event >= events_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("no event ", event));
  }
  std::vector<uint64_t>& known = events_[event].ids;
  const IdRoom room = id_rooms_[event];
  const size_t before = known.size();
  known.insert(known.end(), ids.begin(), ids.end());
  if (before >= room.capacity) return absl::OkStatus();
  // Write the ids first, then the size that makes them valid.
  const size_t fitting = std::min(ids.size(), room.capacity - before);
  PROFILER_RETURN_IF_ERROR(WriteAt(fd_.get(), room.offset + before * sizeof(uint64_t),
                                   std::as_bytes(ids.first(fitting)), path_));
  const uint64_t size = (before + fitting) * sizeof(uint64_t);
  const uint64_t size_offset =
      header_.attrs.offset + (event + 1) * header_.attr_entry_size - sizeof(size);
  return WriteAt(fd_.get(), size_offset, BytesOf(size), path_);
}

absl::Status FileWriter::Append(std::span<const std::span<const std::byte>> pieces) {
  const uint64_t end = end_;
  absl::Status status = WritePieces(fd_.get(), pieces, path_, &end_);
  return status.ok() ? status : Undo(end, std::move(status));
}

// Removes the bytes of a failed write after `end`, perhaps half a record. That also frees the space
// that Finish needs on a full disk.
absl::Status FileWriter::Undo(uint64_t end, absl::Status why) {
  end_ = end;
  // If even that fails, the next write overwrites the bytes.
  (void)Uninterrupted([&] { return ftruncate(fd_.get(), static_cast<off_t>(end)); });
  lseek(fd_.get(), static_cast<off_t>(end), SEEK_SET);
  return why;
}

absl::Status FileWriter::FinishRound() {
  if (end_ == header_.data.offset + header_.data.size) return absl::OkStatus();
  return EndRound();
}

absl::Status FileWriter::EndRound() {
  const perf_event::RecordHeader marker = {perf_event::kRecordFinishedRound, 0,
                                           sizeof(perf_event::RecordHeader)};
  const std::span<const std::byte> piece = BytesOf(marker);
  const absl::Status status = Append({&piece, 1});
  // On a full disk the records are valid even without their marker.
  header_.data.size = end_ - header_.data.offset;
  PROFILER_RETURN_IF_ERROR(WriteAt(fd_.get(), kDataSizeOffset, BytesOf(header_.data.size), path_));
  return status;
}

// Encodes the features and sets their bits in header_.
std::string FileWriter::FeaturesTail(const Features& features) {
  std::map<int, std::string> sections = EncodeFeatures(features);
  std::vector<EventDesc> descriptions;
  for (const EventToWrite& event : events_) {
    descriptions.push_back({event.attr, event.name, event.ids});
  }
  sections[kFeatureEventDesc] = EncodeEventDesc(descriptions);
  for (const auto& [bit, section] : sections) header_.features.set(static_cast<size_t>(bit));
  return FeatureSections(sections, end_, /*swapped=*/false);
}

absl::Status FileWriter::Finish(const Features& features) {
  // If the data size is 0, readers, perf among them, assume that the recorder was killed, and read
  // everything behind the header as records. A round marker avoids that: otherwise the features
  // would be read as records until WriteHeader.
  const bool is_empty = end_ == header_.data.offset;
  PROFILER_RETURN_IF_ERROR(is_empty ? EndRound() : FinishRound());
  std::string tail = FeaturesTail(features);
  // If an event has more ids than fit into its room, all its ids move behind the features.
  bool ids_moved = false;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].ids.size() <= id_rooms_[i].capacity) continue;
    tail.resize((tail.size() + 7) / 8 * 8);
    id_rooms_[i] = {end_ + tail.size(), events_[i].ids.size()};
    for (uint64_t id : events_[i].ids) FieldWriter(&tail).U64(id);
    ids_moved = true;
  }
  if (absl::Status status = WriteAt(fd_.get(), end_, BytesOfText(tail), path_); !status.ok()) {
    return Undo(end_, std::move(status));
  }
  if (ids_moved) {
    PROFILER_RETURN_IF_ERROR(
        WriteAt(fd_.get(), header_.attrs.offset, BytesOfText(AttrEntries()), path_));
  }
  PROFILER_RETURN_IF_ERROR(WriteHeader());
  end_ += tail.size();
  return absl::OkStatus();
}

absl::Status FileWriter::AppendSection(int bit, std::string_view section) {
  if ((header_.features >> static_cast<size_t>(bit)).any()) {
    return absl::InternalError("sections are appended in the order of their bits");
  }
  const uint64_t table = header_.data.offset + header_.data.size;
  const uint64_t entry = table + header_.features.count() * sizeof(FileSection);
  const FileSection place = {end_, section.size()};
  absl::Status written = WriteAt(fd_.get(), end_, BytesOfText(section), path_);
  if (written.ok()) written = WriteAt(fd_.get(), entry, BytesOf(place), path_);
  if (written.ok()) {
    header_.features.set(static_cast<size_t>(bit));
    written = WriteHeader();
    if (!written.ok()) header_.features.reset(static_cast<size_t>(bit));
  }
  if (!written.ok()) return Undo(end_, std::move(written));
  end_ += section.size();
  return absl::OkStatus();
}

int FileWriter::readable_file() const {
  return (fcntl(fd_.get(), F_GETFL) & O_ACCMODE) == O_RDWR ? fd_.get() : -1;
}

absl::StatusOr<std::unique_ptr<Writer>> CreatePlain(OpenedOutput output,
                                                    std::vector<EventToWrite> events,
                                                    const WriterOptions& options) {
  if (output.stream) {
    return CreateStreamWriter(std::move(output.name), std::move(output.fd), std::move(events),
                              options.on_stream);
  }
  auto file = std::make_unique<FileWriter>(std::move(output.name), std::move(output.fd),
                                           std::move(events), options.id_capacity);
  PROFILER_RETURN_IF_ERROR(file->WriteStart());
  return file;
}

absl::StatusOr<std::unique_ptr<Writer>> Begin(OpenedOutput output, std::vector<EventToWrite> events,
                                              const WriterOptions& options) {
  PROFILER_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer,
                            CreatePlain(std::move(output), std::move(events), options));
  if (options.compression_level != 0) {
    PROFILER_ASSIGN_OR_RETURN(
        writer, CreateCompressingWriter(std::move(writer), options.compression_level));
  }
  if (!options.start.empty()) {
    PROFILER_RETURN_IF_ERROR(writer->Append({&options.start, 1}));
    PROFILER_RETURN_IF_ERROR(writer->FinishRound());
  }
  return writer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> Writer::Create(const std::string& path,
                                                       std::vector<EventToWrite> events,
                                                       const WriterOptions& options) {
  if (events.empty()) return absl::InvalidArgumentError("a recording needs an event");
  PROFILER_ASSIGN_OR_RETURN(OpenedOutput output,
                            options.in_memory ? OpenInMemory(path) : OpenOutput(path));
  const ReplacedFile replaced = output.replaced;
  auto writer = Begin(std::move(output), std::move(events), options);
  if (!writer.ok()) TakeBack(replaced);
  return writer;
}

}  // namespace profiler::perf_data
