#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "core/allocator_names.h"
#include "core/function_name.h"
#include "core/lead.h"
#include "core/place.h"
#include "core/suppression.h"

namespace plumb {

namespace {

// A glob that matches just this text. A byte that is no UTF-8 cannot be
// written into a TOML file: it becomes "any character".
std::string glob_for(std::string_view text) {
  std::string glob;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    while (length <= 4 && !is_utf8(text.substr(at, length))) ++length;
    if (length > 4) {
      glob += '?';
      ++at;
      continue;
    }
    if (text[at] == '*' || text[at] == '?' || text[at] == '\\') glob += '\\';
    glob += text.substr(at, length);
    at += length;
  }
  // The gap's own spelling.
  return glob == "..." ? "\\..." : glob;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// A TOML string: literal where possible, since C++ names have many stars.
std::string toml_string(std::string_view text) {
  bool plain = true;
  bool backslash = false;
  for (const char c : text) {
    plain = plain && c != '\'' && !is_control(c);
    backslash = backslash || c == '\\' || c == '"';
  }
  if (plain && backslash) return fmt::format("'{}'", text);
  std::string result = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + '"';
}

std::string pattern_for(const Frame& frame, const Report& report) {
  const std::string name =
      normalised_function(frame.function.empty() ? frame.linkage : frame.function);
  if (!name.empty()) return toml_string(glob_for(name));
  const Module* module = module_of(frame, report);
  if (module != nullptr && !base_name(module->path).empty()) {
    return fmt::format("{{ module = {} }}", toml_string(glob_for(base_name(module->path))));
  }
  if (!base_name(frame.file).empty()) {
    return fmt::format("{{ file = {} }}", toml_string(glob_for(base_name(frame.file))));
  }
  return "\"*\"";
}

// The frames of the program: neither the allocator's nor those below main.
std::vector<std::string> patterns_for(const Stack& stack, const Report& report) {
  std::vector<std::string> patterns;
  std::size_t first = 0;
  while (first < stack.size() && is_allocator_frame(stack[first])) ++first;
  std::size_t end = stack.size();
  while (end > first && is_start_up_function(stack[end - 1].function)) --end;
  for (std::size_t i = first; i < end; ++i) patterns.push_back(pattern_for(stack[i], report));
  return patterns;
}

void add_stack(std::string& text, std::string_view key, const Stack& stack, const Report& report) {
  const std::vector<std::string> patterns = patterns_for(stack, report);
  if (patterns.empty()) return;
  text += fmt::format("{} = [\n", key);
  for (const std::string& pattern : patterns) text += fmt::format("  {},\n", pattern);
  text += "]\n";
}

std::string name_for(const Leak& leak, const Report& report) {
  const Frame* frame = primary_frame(leak, report);
  if (frame == nullptr) return std::string(name_of(leak.kind));
  const std::string function = normalised_function(frame->function);
  const std::string_view where = function.empty() ? base_name(frame->file) : function;
  return where.empty() ? std::string(name_of(leak.kind))
                       : fmt::format("{} in {}", name_of(leak.kind), to_utf8(where));
}

}  // namespace

std::string suppression_for(const Leak& leak, const Report& report) {
  std::string text = "[[suppress]]\n";
  text += fmt::format("name = {}\n", toml_string(name_for(leak, report)));
  text += "reason = \"\"\n";
  text += fmt::format("kind = \"{}\"\n", name_of(leak.kind));
  std::string stacks;
  add_stack(stacks, "allocation", leak.allocation.stack, report);
  if (leak.loss) add_stack(stacks, "loss", leak.loss->stack, report);
  if (stacks.empty()) {
    // Nothing but its fingerprint names it.
    if (leak.id.empty()) return {};
    stacks = fmt::format("id = {}\n", toml_string(to_utf8(leak.id)));
  }
  return text + stacks;
}

}  // namespace plumb
