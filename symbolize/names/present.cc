#include "symbolize/names/present.h"

#include "symbolize/symbols/demangle.h"

namespace profiler::symbolize {

Naming NameFormatter::Present(const AddressFacts& facts, ImageKind kind) {
  Naming naming;
  naming.reason = facts.reason;
  naming.address = facts.address;
  const auto& neighbour = facts.neighbour;
  if (neighbour && !options_.bounded_symbols) {
    AddFunctions(facts, *neighbour, kind);
    naming.reason = Reason::kNamed;
    naming.functions = functions_;
    naming.distance = facts.address->value - neighbour->start.value;
    return naming;
  }
  const auto& function = facts.function;
  const bool has_name = facts.reason == Reason::kNamed && function.has_value();
  if (has_name && (function->in_symbol_table || options_.inlines)) {
    AddFunctions(facts, *function, kind);
    naming.functions = functions_;
    naming.distance = facts.distance();
    return naming;
  }
  if (naming.reason == Reason::kNamed) naming.reason = Reason::kNoSymbol;
  if (options_.function_starts && function && function->size != 0) {
    naming.unnamed_start = function->start;
    naming.unnamed_size = function->size;
    naming.distance = facts.distance();
  } else if (neighbour) {
    naming.distance = facts.address->value - neighbour->start.value;
  }
  return naming;
}

void NameFormatter::AddFunctions(const AddressFacts& facts, const AddressFacts::Function& function,
                                 ImageKind kind) {
  // Lines of JIT code come from the JIT's dump, so options of debug information do not apply.
  const bool has_lines = options_.inlines || kind == ImageKind::kJitDump;
  functions_.clear();
  const auto add = [&](std::string_view name, const AddressFacts::Line& at, bool inlined) {
    NamedFunction& shown = functions_.emplace_back();
    shown.name = name;
    shown.start = function.start;
    shown.size = function.size;
    shown.inlined = inlined;
    if (!has_lines) return;
    shown.file = at.file;
    shown.line = at.line;
    shown.column = at.column;
  };
  if (options_.inlines) {
    for (const auto& inlined : facts.inlined) add(Demangled(inlined.name), inlined.at, true);
  }
  // Symbols of the kernel and of JIT code are not mangled.
  const bool may_be_mangled = kind == ImageKind::kUser || kind == ImageKind::kVdso;
  add(may_be_mangled ? Demangled(function.name) : function.name, facts.at, false);
}

std::string_view NameFormatter::Demangled(std::string_view name) {
  constexpr std::string_view kStub = "@plt";
  if (!options_.demangle || !name.starts_with('_')) return name;
  std::string_view& known = demangled_[name.data()];
  if (known.data() != nullptr) return known;
  const bool is_stub = name.ends_with(kStub);
  std::string text = Demangle(is_stub ? name.substr(0, name.size() - kStub.size()) : name);
  if (is_stub) text += kStub;
  return known = made_names_.emplace_back(std::move(text));
}

}  // namespace profiler::symbolize
