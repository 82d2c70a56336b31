// Contents of the messages between this process and the confined one.
//
//   question                 content                                     answer's content
//   kFind                    image, n u32, n × place                     facts of each
//   kFindAt                  image, n u32, n × address u64               facts of each
//   kCodeAt                  image, address u64, size u64                reason u8, machine u16,
//                                                                        place, bytes
//   kJitCodes                image                                       status, n u32, n × JitCode
//   kFileOf                  image                                       path; empty: none trusted
//   kAreTrusted              image                                       u8: 1 if root or the user
//                                                                        owns its files
//   kMissingFiles            image                                       executable u8, debug
//                                                                        information u8, build-id;
//                                                                        empty: nothing is missing
//   kKernelReference         symbol, address u64                         no answer
//   kKernelSymbol            start u64, size u64, name                   no answer
//
//   every answer begins with warnings: n u32, n × text
//
//   image    kind u8, path, build-id, process u32, life, device u32 and u32, inode u64, start u64,
//            mapped at u64
//   life     began i64, seen i64, over i64, is replaced u8, has ended u8
//   place    value u64, in file u8
//   facts    n u32, n × new string │ each: reason u8, present parts u8, address u64, function,
//            neighbour, line, n u32, n × (name, line)
//   string   in facts: its number, in the order in which new strings were sent
//
// While it answers, the confined process sends requests of its own:
//
//   kOpen    path, root                                kOpened: status, and the descriptor
//   kOpenOwn path                                      kOpened: status, and the descriptor
//   kFileId  path                                      kOpened: exists u8, device u64, inode u64
//   kLink    path                                      kOpened: text
//   kNames   path                                      kOpened: n u32, n × text
//
// Private to this package.

#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "src/base/byte_reader.h"
#include "src/base/status.h"
#include "symbolize/address_facts.h"
#include "symbolize/confined/socket_message.h"
#include "symbolize/symbolizer.h"

namespace profiler::symbolize {

void PutSpec(const ImageSpec& spec, ContentWriter& to);
ImageSpec ReadSpec(ByteReader& from);

void PutPlace(CodePlace place, ContentWriter& to);
CodePlace ReadPlace(ByteReader& from);

// Put and read a status: its code, message and errno.
void PutStatus(const absl::Status& status, ContentWriter& to);
absl::Status ReadStatus(ByteReader& from);

// A serializer of facts. Sends each string once. Not thread-safe.
class FactsWriter {
 public:
  void Add(const AddressFacts& facts);
  // Returns the facts added since the last call.
  std::string Take();

 private:
  uint32_t Number(std::string_view text);
  void Put(const AddressFacts::Function& function);
  void Put(const AddressFacts::Line& line);

  std::deque<std::string> storage_;
  absl::flat_hash_map<absl::string_view, uint32_t> numbers_;
  ContentWriter strings_;  // strings that are not sent yet
  uint32_t new_strings_ = 0;
  ContentWriter facts_;
};

// A deserializer of facts. Strings live as long as `storage`, inlined calls until the next Read.
// Not thread-safe.
class FactsReader {
 public:
  // `storage` must outlive this object, and never moves a string.
  explicit FactsReader(std::deque<std::string>& storage) : storage_(storage) {}

  // Reads `count` facts. Errors: kDataLoss for bytes that no FactsWriter writes.
  absl::StatusOr<std::vector<AddressFacts>> Read(std::string_view content, size_t count);

 private:
  std::string_view Text(ByteReader& from);
  AddressFacts::Function ReadFunction(ByteReader& from);
  AddressFacts::Line ReadLine(ByteReader& from);
  AddressFacts ReadFacts(ByteReader& from);

  std::deque<std::string>& storage_;
  std::vector<std::string_view> strings_;  // [number of a string]: the string
  std::deque<std::vector<AddressFacts::Inlined>> inlined_;
};

}  // namespace profiler::symbolize
