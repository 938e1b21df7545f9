// Exceptions by their class: what is thrown, and which handlers take it.
//
// A class is the symbol of its typeinfo object, whose initial value names the bases. The
// class in flight is part of a state from the throw to the handler; those that are being
// handled are a stack, for `throw;`. States that differ in either are not merged, so that
// what one class skips is not held against another.
// Limits: of typeinfo that no unit defines nothing is known but those of the C++ library
// below; of pointers only that no class takes them; a base that is ambiguous counts.
#include <algorithm>
#include <array>

#include "check/summary/function_run.h"

namespace plumb::check {

namespace {

constexpr std::string_view kTypeinfo = "_ZTI";
constexpr std::string_view kAnyException = "_ZTISt9exception";

// What the library throws, and what that is derived from: it is declared only.
struct LibraryClass {
  std::string_view name;
  std::string_view base;
};
constexpr std::array kLibraryClasses = {
    LibraryClass{"_ZTISt9bad_alloc", kAnyException},
    LibraryClass{"_ZTISt20bad_array_new_length", "_ZTISt9bad_alloc"},
    LibraryClass{"_ZTISt8bad_cast", kAnyException},
    LibraryClass{"_ZTISt10bad_typeid", kAnyException},
    LibraryClass{"_ZTISt13bad_exception", kAnyException},
    LibraryClass{"_ZTISt11logic_error", kAnyException},
    LibraryClass{"_ZTISt12domain_error", "_ZTISt11logic_error"},
    LibraryClass{"_ZTISt16invalid_argument", "_ZTISt11logic_error"},
    LibraryClass{"_ZTISt12length_error", "_ZTISt11logic_error"},
    LibraryClass{"_ZTISt12out_of_range", "_ZTISt11logic_error"},
    LibraryClass{"_ZTISt13runtime_error", kAnyException},
    LibraryClass{"_ZTISt11range_error", "_ZTISt13runtime_error"},
    LibraryClass{"_ZTISt14overflow_error", "_ZTISt13runtime_error"},
    LibraryClass{"_ZTISt15underflow_error", "_ZTISt13runtime_error"},
    LibraryClass{"_ZTISt12system_error", "_ZTISt13runtime_error"},
    LibraryClass{"_ZTINSt8ios_base7failureB5cxx11E", "_ZTISt12system_error"},
    LibraryClass{"_ZTISt17bad_function_call", kAnyException},
    LibraryClass{"_ZTISt12bad_weak_ptr", kAnyException},
    LibraryClass{"_ZTISt18bad_variant_access", kAnyException},
    LibraryClass{"_ZTISt19bad_optional_access", "_ZTISt9exception"},
};

bool is_pointer(std::string_view typeinfo) { return typeinfo.starts_with("_ZTIP"); }

// int, char, nullptr and their like: nothing but themselves.
bool is_builtin(std::string_view typeinfo) {
  constexpr std::size_t kLonger = kTypeinfo.size() + 1;
  const char first = typeinfo.size() >= kLonger ? typeinfo[kTypeinfo.size()] : ' ';
  return typeinfo.size() == kLonger || (first == 'D' && typeinfo.size() == kLonger + 1);
}

}  // namespace

// Does a handler for the class take what is thrown? 1, 0, or -1 when that is not known.
int FunctionRun::takes(std::uint32_t handler, std::uint32_t thrown) const {
  if (handler == thrown && thrown < kAnyClass) return 1;
  const std::string& wanted = program_.symbol(ProgramSymbolId::of(handler)).name;
  // What is thrown is derived from `std::exception` by custom.
  const int unknown = wanted == kAnyException ? 1 : -1;
  if (thrown >= kAnyClass) return unknown;
  const std::string& name = program_.symbol(ProgramSymbolId::of(thrown)).name;
  if (is_pointer(name)) return is_pointer(wanted) ? -1 : 0;
  if (is_pointer(wanted)) return 0;

  bool all_known = true;
  std::vector<std::uint32_t> work{thrown};
  for (std::size_t next = 0; next < work.size(); ++next) {
    const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(work[next]));
    if (symbol.name == wanted) return 1;
    if (symbol.global && symbol.global->defined) {
      for (const std::uint32_t base : public_bases(symbol)) {
        if (std::ranges::find(work, base) == work.end()) work.push_back(base);
      }
      continue;
    }
    std::string_view own = symbol.name;
    bool known = own == kAnyException || is_builtin(own);
    while (true) {
      const auto* const listed = std::ranges::find(kLibraryClasses, own, &LibraryClass::name);
      if (listed == kLibraryClasses.end()) break;
      if (listed->base == wanted) return 1;
      own = listed->base;
      known = true;
    }
    all_known = all_known && known;
  }
  return all_known ? 0 : unknown;
}

// As the object of typeinfo lists them: one behind the name, or flags, a number, and then
// each with its offset and whether it is public.
std::vector<std::uint32_t> FunctionRun::public_bases(const ProgramSymbol& typeinfo) const {
  constexpr std::uint64_t kFirst = 16;  // behind the table of functions and the name
  constexpr std::int64_t kPublic = 2;
  std::vector<std::uint32_t> out;
  const std::vector<Initial>& initial = typeinfo.global->initial;
  for (const Initial& each : initial) {
    if (each.offset < kFirst || !each.is_symbol) continue;
    // Absent: it is zero.
    const auto flags = std::ranges::find(initial, each.offset + sizeof(void*), &Initial::offset);
    const bool shown = flags != initial.end() && !flags->is_symbol && (flags->value & kPublic);
    if (shown || each.offset == kFirst) {
      out.push_back(program_.resolve(typeinfo.global_unit, each.symbol).index);
    }
  }
  return out;
}

std::uint32_t FunctionRun::class_of(ValueId typeinfo) const {
  const Value& v = values_[typeinfo];
  const bool named = v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::global;
  return named ? ObjectId{v.number}.index() : kAnyClass;
}

// A handler begins: what was in flight is handled. `throw;` in it throws that again.
void FunctionRun::begin_catch(State& state) {
  constexpr std::size_t kMost = 4;  // handlers in handlers
  if (state.caught.size() == kMost) state.caught.erase(state.caught.begin());
  state.caught.push_back(state.thrown == kNoClass ? kAnyClass : state.thrown);
  state.thrown = kNoClass;
}

void FunctionRun::end_catch(State& state) {
  if (!state.caught.empty()) state.caught.pop_back();
}

void FunctionRun::join_thrown(State& into, const State& other) {
  if (into.thrown != other.thrown) into.thrown = kAnyClass;
  if (into.caught != other.caught) {
    into.caught.assign(std::max(into.caught.size(), other.caught.size()), kAnyClass);
  }
}

void add_class(std::vector<std::uint32_t>& classes, std::uint32_t thrown) {
  constexpr std::size_t kMost = 6;
  if (std::ranges::find(classes, thrown) != classes.end()) return;
  if (!classes.empty() && classes.front() == kAnyClass) return;
  if (thrown == kAnyClass || classes.size() == kMost) {
    classes.assign(1, kAnyClass);
  } else {
    classes.insert(std::ranges::lower_bound(classes, thrown), thrown);
  }
}

}  // namespace plumb::check
