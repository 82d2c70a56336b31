#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "symbolize/python/known_layouts.h"
#include "symbolize/python/python_process.h"

namespace profiler::symbolize::python {
namespace {

constexpr size_t kMostName = 1024, kMostFile = 4096;  // characters
constexpr size_t kMostTable = size_t{1} << 20;        // bytes
constexpr uint64_t kMostCode = uint64_t{1} << 26;     // bytes of instructions
constexpr size_t kMostModules = 1 << 14;
// The fixed part of a code object, with a place for its size.
constexpr size_t kMostHead = 512;

}  // namespace

uint32_t CodeObjects::Code::OffsetOf(uint64_t instruction) const {
  if (instructions.empty()) {
    const uint64_t offset = instruction * unit;
    return offset < size ? static_cast<uint32_t>(offset) : 0;
  }
  for (const uint64_t start : instructions) {
    if (instruction - start < size) return static_cast<uint32_t>(instruction - start);
  }
  return 0;
}

std::vector<uint32_t> CodeObjects::Code::DistinctLines(size_t most) const {
  std::vector<uint32_t> numbers = {first_line};
  for (const Line& line : lines) {
    if (line.line != 0) numbers.push_back(line.line);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.front() == 0) numbers.erase(numbers.begin());
  if (numbers.size() > most) numbers.resize(most);
  return numbers;
}

CodeObjects::CodeObjects(ProcessMemory& memory, const Interpreter& interpreter)
    : layout_(interpreter.layout), objects_(memory, layout_, interpreter.types) {}

std::optional<CodeObjects::Identity> CodeObjects::ReadIdentity(uint64_t address) {
  if (!objects_.IsCode(address)) return std::nullopt;
  const WalkLayout& walk = layout_.walk;
  std::array<std::byte, kMostHead> bytes;
  if (walk.code_bytes > bytes.size()) return std::nullopt;
  const std::span<std::byte> head = std::span(bytes).first(walk.code_bytes);
  if (!objects_.memory().Read(address, head)) return std::nullopt;
  const auto field = [&](uint16_t offset, auto& value) {
    if (offset == kPythonNoField || offset + sizeof(value) > head.size()) return;
    std::memcpy(&value, head.data() + offset, sizeof(value));
  };
  Identity identity;
  field(walk.code_name, identity.name);
  field(walk.code_qualified_name, identity.qualified_name);
  field(walk.code_file, identity.file);
  field(walk.code_lines, identity.lines);
  field(layout_.code.first_line, identity.first_line);
  field(layout_.code.first_traceable, identity.first_traceable);
  if (walk.version < kPython311) {
    field(layout_.code.instructions, identity.instructions);
    const auto size = objects_.BytesSize(identity.instructions);
    if (!size) return std::nullopt;
    identity.size = *size;
  } else {
    identity.instructions = address + layout_.code.instructions;
    uint64_t units = 0;
    field(layout_.code.object_size, units);
    if (units > kMostCode / kUnit) return std::nullopt;
    identity.size = units * kUnit;
  }
  if (identity.size > kMostCode) return std::nullopt;
  return identity;
}

std::vector<uint64_t> CodeObjects::ReadThreadInstructions(uint64_t address) {
  constexpr uint64_t kMostThreads = 4096;
  ProcessMemory& memory = objects_.memory();
  const auto array = memory.Value<uint64_t>(address + layout_.code.thread_instructions);
  if (!array || *array == 0) return {};
  const auto count = memory.Value<uint64_t>(*array);
  if (!count || *count > kMostThreads) return {};
  std::vector<uint64_t> starts(*count);
  if (!memory.Read(*array + sizeof(uint64_t), std::as_writable_bytes(std::span(starts)))) return {};
  std::erase(starts, 0);
  return starts;
}

std::optional<CodeObjects::Code> CodeObjects::ReadCode(uint64_t address, const Identity& identity) {
  const bool has_qualified = layout_.walk.code_qualified_name != kPythonNoField;
  auto name = objects_.Text(has_qualified ? identity.qualified_name : identity.name, kMostName);
  if (!name && has_qualified) name = objects_.Text(identity.name, kMostName);
  if (!name) return std::nullopt;
  Code code;
  code.name = std::move(*name);
  code.file = objects_.Text(identity.file, kMostFile).value_or("");
  code.first_line = identity.first_line > 0 ? static_cast<uint32_t>(identity.first_line) : 0;
  code.size = static_cast<uint32_t>(identity.size);
  if (const auto table = objects_.Bytes(identity.lines, kMostTable)) {
    code.lines = DecodeLines(layout_.code.line_format, *table, identity.first_line, code.size);
  }
  if (layout_.walk.version >= kPython311) {
    code.instructions = {identity.instructions};
    if (layout_.code.thread_instructions != kPythonNoField) {
      const std::vector<uint64_t> more = ReadThreadInstructions(address);
      code.instructions.insert(code.instructions.end(), more.begin(), more.end());
    }
    // No instruction is traced: the interpreter's own code, such as the one that checks the result
    // of __init__.
    code.is_internal = static_cast<uint64_t>(identity.first_traceable) * kUnit >= identity.size;
  } else if (layout_.walk.version == kPython310) {
    code.unit = kUnit;
  }
  return code;
}

std::string CodeObjects::ModuleOf(uint64_t globals) {
  if (modules_.size() >= kMostModules) modules_.clear();
  Module& module = modules_[globals];
  if (module.look != look_) {
    module.name = objects_.ModuleName(globals).value_or("");
    module.look = look_;
  }
  return module.name;
}

const CodeObjects::Code* CodeObjects::Find(uint64_t address, uint64_t globals) {
  auto found = codes_.find(address);
  if (found == codes_.end() || found->second->look != look_) {
    const std::optional<Identity> identity = ReadIdentity(address);
    // A process that has ended leaves the objects that are known.
    const bool is_same =
        found != codes_.end() && (identity ? found->second->identity == *identity
                                           : !objects_.memory().Value<uint64_t>(address));
    if (!is_same) {
      std::optional<Code> code = identity ? ReadCode(address, *identity) : std::nullopt;
      // A process that changes the object meanwhile gets no name.
      if (!code || ReadIdentity(address) != identity) {
        if (found != codes_.end()) codes_.erase(found);
        return nullptr;
      }
      const size_t size = sizeof(Known) + code->name.size() + code->file.size() +
                          code->lines.size() * sizeof(Line) +
                          code->instructions.size() * sizeof(uint64_t) + kMostName;
      if (bytes_ + size > kMostBytes) {
        codes_.clear();
        bytes_ = 0;
      }
      bytes_ += size;
      code->number = ++last_number_;
      auto known = std::make_unique<Known>();
      known->identity = *identity;
      known->code = std::move(*code);
      found = codes_.insert_or_assign(address, std::move(known)).first;
    }
    found->second->look = look_;
  }
  Known& known = *found->second;
  if (globals != 0 && !known.has_module && !known.code.is_internal) {
    const std::string module = ModuleOf(globals);
    if (!module.empty()) {
      known.code.name = module + "." + known.code.name;
      known.has_module = true;
    }
  }
  return &known.code;
}

}  // namespace profiler::symbolize::python
