#include "core/suggestion.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/allocator_names.h"
#include "core/lead.h"

namespace plumb {

namespace {

// `free(p)`, `delete[] p`; empty when the function that takes it back is not known.
std::string release_call(const Leak& leak, std::string_view holder) {
  const std::string_view api = leak.allocation.api;
  if (api == "operator new[]") return fmt::format("delete[] {}", holder);
  if (api == "operator new") return fmt::format("delete {}", holder);
  if (!api.empty() && is_allocator_function(api)) return fmt::format("free({})", holder);
  return {};
}

// The program's own function that frees siblings, if one function does.
std::string_view sibling_function(const Leak& leak, const Report& report) {
  std::string_view found;
  for (const SiblingFree& sibling : leak.frees) {
    const Frame* frame = lead_of(sibling.stack, report).frame;
    if (frame == nullptr || frame->function.empty()) return {};
    if (!found.empty() && found != frame->function) return {};
    found = frame->function;
  }
  return found;
}

std::string what_to_do(const Leak& leak, const Report& report) {
  const bool named = leak.loss->holder && !leak.loss->holder->name.empty();
  const std::string holder = named ? fmt::format("`{}`", leak.loss->holder->name) : "it";
  const std::string_view sibling = sibling_function(leak, report);
  if (!sibling.empty()) return fmt::format("free {}, as `{}` does with others,", holder, sibling);
  const std::string call = named ? release_call(leak, leak.loss->holder->name) : "";
  return call.empty() ? fmt::format("free {}", holder) : fmt::format("`{}`", call);
}

std::string text_for(const Leak& leak, const Report& report) {
  const std::string act = what_to_do(leak, report);
  switch (*leak.loss->cause) {
    case Cause::overwritten:
      return act + " before this assignment";
    case Cause::scope_end:
      return act + " before it goes out of scope here";
    case Cause::holder_freed:
      return act + " before what holds it";
    case Cause::thread_end:
      return act + " before the thread ends";
    case Cause::unmapped:
      return act + " before the memory that holds it is given back";
    case Cause::discarded:
      return "keep the result of this call, and free it after its last use";
    case Cause::escaped_throw:
      return "let an owner free it when an exception leaves this scope";
    case Cause::holder_lost:
      return {};  // its holder's is the one that counts
  }
  return {};
}

}  // namespace

std::optional<Fix> suggested_fix(const Leak& leak, const Report& report) {
  if (leak.kind != Kind::lost || !leak.loss || !leak.loss->cause || leak.resource != "memory") {
    return std::nullopt;
  }
  Fix fix;
  fix.text = text_for(leak, report);
  if (fix.text.empty()) return std::nullopt;
  if (const Frame* frame = lead_of(leak.loss->stack, report).frame) fix.place = *frame;
  return fix;
}

void suggest_fixes(Report& report) {
  for (Leak& leak : report.leaks) {
    if (!leak.fix) leak.fix = suggested_fix(leak, report);
  }
}

}  // namespace plumb
