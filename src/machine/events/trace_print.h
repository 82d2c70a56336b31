// Prints the records of one tracepoint by its print format, which it compiles once. The text is that
// of libtraceevent, byte for byte.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/machine/events/trace_arguments.h"
#include "src/machine/events/trace_conversion.h"
#include "src/machine/events/trace_event.h"

namespace profiler::events {

// A compiled format. Printing does not change it.
class TracePrint {
 public:
  // Compiles the text of a format file. Returns nullopt for a format with parts that only
  // libtraceevent supports.
  static std::optional<TracePrint> Compile(std::string_view format);

  const TraceEvent& event() const { return event_; }

  // Appends the text of a record; nothing if the record is not whole. Returns false, and leaves
  // `out` as it was, if only libtraceevent can print this record.
  bool Append(std::span<const std::byte> record, std::string* out) const;
  // Appends the value of one of the event's own fields, likewise. `text` is the text of the record:
  // a number is taken from there if it stands there by its name ("prev_state=R").
  bool AppendField(std::string_view name, std::string_view text, std::span<const std::byte> record,
                   std::string* out) const;

 private:
  // Text, and the conversion after it.
  struct Piece {
    std::string text;
    std::optional<TraceConversion> conversion;
    uint32_t argument = TraceNode::kMissing;
    uint32_t length = TraceNode::kMissing;  // argument that is the width or the precision
  };

  bool CompilePieces();
  bool CompileConversion(std::string_view* format, size_t* used, Piece* piece) const;
  bool IsSupported(const Piece& piece) const;
  bool IsText(uint32_t node) const;
  bool AppendPiece(const Piece& piece, std::span<const std::byte> record, std::string* out) const;
  bool AppendText(const TraceConversion& conversion, uint32_t node,
                  std::span<const std::byte> record, std::string* out) const;
  bool AppendNames(const TraceConversion& conversion, const TraceNode& node,
                   std::span<const std::byte> record, std::string* out) const;
  bool AppendNumberOf(uint32_t field, std::span<const std::byte> record, std::string* out) const;

  TraceEvent event_;
  TraceArguments arguments_;
  std::vector<Piece> pieces_;
};

}  // namespace profiler::events
