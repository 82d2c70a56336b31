#include "src/views/annotate/instruction_bytes.h"

#include <algorithm>
#include <utility>

#include "src/profile/image_spec.h"

namespace profiler::annotate {
namespace {

constexpr uint64_t kLongestInstruction = 15;  // bytes, on x86

// Returns the address that CodeAt takes for a named place.
std::optional<ElfAddress> AddressOf(const symbolize::Naming& naming) {
  if (naming.address) return naming.address;
  if (naming.functions.empty()) return std::nullopt;
  return ElfAddress{naming.functions.back().start.value + naming.distance};
}

}  // namespace

std::span<const std::byte> InstructionBytes::At(profile::FrameId id) {
  const auto index = static_cast<size_t>(id);
  if (index >= known_.size()) known_.resize(profile_.frames.size());
  if (!known_[index]) known_[index] = Find(profile_[id]);
  return *known_[index];
}

std::span<const std::byte> InstructionBytes::Find(const profile::Frame& frame) {
  const auto spec = profile::SpecOf(profile_, profile_[frame.image]);
  if (!spec) return {};
  const symbolize::ImageId image = symbolizer_.AddImage(*spec);
  const auto address = AddressOf(symbolizer_.Name(image, frame.place));
  if (!address) return {};
  const symbolize::CodeBytes code = symbolizer_.CodeAt(image, *address, kLongestInstruction);
  if (code.bytes.empty()) return {};
  Disassembler* const disassembler = DisassemblerFor(code.machine);
  if (disassembler == nullptr) return {};
  const Instruction instruction = disassembler->Decode(code.bytes, address->value);
  if (!instruction.valid) return {};
  return code.bytes.first(std::min<size_t>(instruction.size, code.bytes.size()));
}

Disassembler* InstructionBytes::DisassemblerFor(uint16_t machine) {
  const auto [known, is_new] = disassemblers_.try_emplace(machine);
  if (is_new) {
    auto created = Disassembler::Create(machine, Syntax::kAtt);
    if (created.ok()) known->second = *std::move(created);
  }
  return known->second.get();
}

}  // namespace profiler::annotate
