#include "compiled/options.h"

#include "common/text.h"

// Its address is the level that the program was linked with (driver/compile.cc);
// 0: none was named.
extern "C" char __plumb_built_mode __attribute__((weak));

namespace plumb::rt {

namespace {

CompiledOptions the_options;

bool separates(char c) { return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n'; }

struct Pair {
  char key[32];
  char value[512];
};

// The same rules as the command's (driver/runtime_options.cc).
Pair take_pair(const char*& at) {
  Pair pair{};
  unsigned size = 0;
  for (; *at != 0 && *at != '=' && !separates(*at); ++at) {
    if (size + 1 < sizeof pair.key) pair.key[size++] = *at;
  }
  if (*at != '=') return pair;
  ++at;
  const char quote = *at == '\'' || *at == '"' ? *at++ : 0;
  size = 0;
  for (; *at != 0 && (quote != 0 ? *at != quote : !separates(*at) || *at == ','); ++at) {
    if (size + 1 < sizeof pair.value) pair.value[size++] = *at;
  }
  if (quote != 0 && *at != 0) ++at;
  return pair;
}

bool equal(const char* left, const char* right) {
  const char* rest = after(left, right);
  return rest != nullptr && *rest == 0;
}

void set_mode(const char* value) {
  if (equal(value, "full"))
    the_options.mode = Mode::full;
  else if (equal(value, "partial"))
    the_options.mode = Mode::partial;
  else if (equal(value, "minimal"))
    the_options.mode = Mode::minimal;
  else if (equal(value, "off"))
    the_options.mode = Mode::off;
  else
    copy_text(the_options.unknown, sizeof the_options.unknown, value);
}

void set_last_use(const char* value) {
  if (equal(value, "access"))
    the_options.last_use = LastUse::access;
  else if (equal(value, "pointer"))
    the_options.last_use = LastUse::pointer;
  else
    the_options.unknown_last_use = true;
}

uint64_t number_of(const char* value) {
  uint64_t number = take_decimal(value);
  if (*value == 'k' || *value == 'K') number <<= 10;
  if (*value == 'M') number <<= 20;
  return number;
}

}  // namespace

CompiledOptions& options() { return the_options; }

// LeakSanitizer's own: most of its keys say how it looks, which has no meaning here.
void read_lsan_options(const char* text) {
  while (text != nullptr && *text != 0) {
    if (separates(*text)) {
      ++text;
      continue;
    }
    const Pair pair = take_pair(text);
    if (equal(pair.key, "detect_leaks") && (equal(pair.value, "0") || equal(pair.value, "false"))) {
      the_options.mode = Mode::off;
    } else if (equal(pair.key, "exitcode")) {
      the_options.exit_code = static_cast<int>(number_of(pair.value) & 255);
    } else if (equal(pair.key, "suppressions")) {
      copy_text(the_options.lsan_suppressions, sizeof the_options.lsan_suppressions, pair.value);
    }
  }
}

void read_options(const char* text) {
  const uintptr_t built = reinterpret_cast<uintptr_t>(&__plumb_built_mode);
  if (the_options.mode != Mode::off) {
    if (built == 1) the_options.mode = Mode::minimal;
    if (built == 2) the_options.mode = Mode::partial;
  }
  while (text != nullptr && *text != 0) {
    if (separates(*text)) {
      ++text;
      continue;
    }
    const Pair pair = take_pair(text);
    if (equal(pair.key, "mode")) {
      set_mode(pair.value);
    } else if (equal(pair.key, "partial_limit")) {
      the_options.partial_limit = number_of(pair.value);
    } else if (equal(pair.key, "depth")) {
      const uint64_t depth = number_of(pair.value);
      the_options.depth = depth < 1 ? 1 : depth > 200 ? 200 : static_cast<unsigned>(depth);
    } else if (equal(pair.key, "drop_frees")) {
      const char* value = pair.value;
      the_options.drop_percent = static_cast<uint32_t>(take_decimal(value));
      if (*value == '/') the_options.drop_seed = static_cast<uint32_t>(take_decimal(++value));
    } else if (equal(pair.key, "sites")) {
      copy_text(the_options.sites, sizeof the_options.sites, pair.value);
    } else if (equal(pair.key, "last_use")) {
      set_last_use(pair.value);
    } else if (equal(pair.key, "stacks")) {
      the_options.whole_stacks = equal(pair.value, "full");
    } else if (equal(pair.key, "exitcode")) {
      the_options.exit_code = static_cast<int>(number_of(pair.value) & 255);
    } else if (equal(pair.key, "output")) {
      the_options.has_output = pair.value[0] != 0;
    } else if (equal(pair.key, "trace")) {
      copy_text(the_options.trace, sizeof the_options.trace, pair.value);
    }
  }
}

}  // namespace plumb::rt
