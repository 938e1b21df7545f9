// Whole SARIF files, compared byte for byte with testdata/*.sarif. The
// same files are what tools/sarif/validate.sh validates, so what is checked
// there is what is written here. PLUMB_UPDATE_GOLDEN=1 rewrites them.
#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "report/sarif.h"

namespace plumb {
namespace {

Frame frame(std::string function, std::string file, std::uint32_t line, std::uint32_t column,
            std::uint32_t module = 0) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::move(file);
  frame.line = line;
  frame.column = column;
  frame.module = ModuleId{{module}};
  frame.offset = 0x1000 + line;
  return frame;
}

Frame bare_frame(std::string function, std::uint32_t module, std::uint64_t offset) {
  Frame frame;
  frame.function = std::move(function);
  frame.module = ModuleId{{module}};
  frame.offset = offset;
  return frame;
}

Report base_report(Engine engine) {
  Report report;
  report.tool = {.version = "0.1.0", .engine = engine, .mode = "scan", .extra = {}};
  report.subject.command = {"./server", "--port", "80 80", "it's"};
  report.subject.cwd = "/src/my app";
  report.subject.pid = 4242;
  report.subject.started = "2026-01-31T12:34:56.789Z";
  report.subject.duration = 1.5;
  report.subject.status = Status{.code = 3, .signal = {}, .extra = {}};
  report.subject.host = "builder";
  report.modules = {{"/src/my app/server", "0123456789abcdef", "full", {}},
                    {"/usr/lib/x86_64-linux-gnu/libc.so.6", "fedcba9876543210", "symbols", {}}};
  return report;
}

Stack allocation_stack() {
  return {bare_frame("malloc", 1, 0x98860), frame("grow", "/src/my app/src/server.c", 51, 18),
          frame("handle", "/src/my app/src/server.c", 80, 5),
          frame("main", "/src/my app/src/main.c", 12, 3)};
}

Leak overwritten() {
  Leak leak;
  leak.id = "00000000000000a1";
  leak.direct = {.blocks = 2, .bytes = 8192, .extra = {}};
  leak.indirect = {.blocks = 1, .bytes = 16, .extra = {}};
  leak.allocation = {allocation_stack(), "malloc", {}};
  Loss loss;
  loss.cause = Cause::overwritten;
  loss.stack = {frame("handle", "/src/my app/src/server.c", 88, 13),
                frame("main", "/src/my app/src/main.c", 12, 3)};
  loss.holder =
      Holder{.name = "conn->buffer", .type = "char *", .storage = "heap", .chain = {}, .extra = {}};
  leak.loss = loss;
  leak.last_use = LastUse{{frame("handle", "/src/my app/src/server.c", 85, 9),
                           frame("main", "/src/my app/src/main.c", 12, 3)},
                          UseKind::access,
                          {}};
  leak.window = {frame("handle", "/src/my app/src/server.c", 86, 1)};
  leak.frees = {
      {{bare_frame("free", 1, 0x98f40), frame("drop", "/src/my app/src/server.c", 120, 3)}, 7, {}}};
  leak.fix = Fix{frame("handle", "/src/my app/src/server.c", 88, 5),
                 "free(conn->buffer) before this line",
                 {}};
  return leak;
}

Leak forgotten() {
  Leak leak;
  leak.id = "00000000000000a2";
  leak.kind = Kind::forgotten;
  leak.direct = {.blocks = 64, .bytes = 65536, .extra = {}};
  leak.allocation = {{bare_frame("operator new[](unsigned long)", 1, 0xabc),
                      frame("Cache::operator[](unsigned long)", "/usr/include/c++/cache.h", 7, 11)},
                     "operator new[]",
                     {}};
  leak.allocation.stack[1].linkage = "_ZN5CacheixEm";
  leak.holders = {{"g_cache", "Cache", "global", {"g_cache.slots_", "[3]"}, {}}};
  leak.suppressed = Suppressed{"leaks.toml:3", "lives as long as the process", {}};
  return leak;
}

Leak without_source() {
  Leak leak;
  leak.id = "00000000000000a3";
  leak.direct = {.blocks = 1, .bytes = 24, .extra = {}};
  leak.allocation = {
      {bare_frame("malloc", 1, 0x98860), bare_frame("setlocale", 1, 0x2b000)}, "malloc", {}};
  leak.known = true;
  return leak;
}

Leak stale() {
  Leak leak;
  leak.id = "00000000000000a4";
  leak.kind = Kind::stale;
  leak.confidence = 0.6;
  leak.direct = {.blocks = 5, .bytes = 500, .extra = {}};
  leak.allocation = {allocation_stack(), "calloc", {}};
  return leak;
}

Report run_report() {
  Report report = base_report(Engine::run);
  report.leaks = {overwritten(), without_source(), stale(), forgotten()};
  report.totals.allocated = {.blocks = 172, .bytes = 174252, .extra = {}};
  report.totals.freed = {.blocks = 99, .bytes = 99984, .extra = {}};
  report.totals.lost = {.blocks = 4, .bytes = 8232, .extra = {}};
  report.totals.stale = {.blocks = 5, .bytes = 500, .extra = {}};
  report.totals.forgotten = {.blocks = 64, .bytes = 65536, .extra = {}};
  report.totals.suppressed = 1;
  report.totals.known = 1;
  report.notes = {{"no-debug-info",
                   "1 module has no line numbers: libc.so.6",
                   "Install its debug package",
                   {}}};
  return report;
}

Step step(std::string event, std::uint32_t line, std::string text) {
  Step step;
  step.location = frame("load", "lib/load.c", line, 3);
  step.event = std::move(event);
  step.text = std::move(text);
  return step;
}

// One finding for each cause, on each kind of path.
Report check_report() {
  Report report = base_report(Engine::check);
  report.subject.command = {};
  report.subject.status = std::nullopt;
  std::uint32_t number = 0;
  for (const auto& [cause, name] : kNames<Cause>) {
    Leak leak;
    leak.id = fmt::format("00000000000000b{}", number);
    leak.confidence = 1.0 - 0.1 * number;
    leak.when = kNames<When>[number % std::size(kNames<When>)].first;
    leak.resource = number == 3 ? "file" : "memory";
    leak.allocation = {{frame("load", "lib/load.c", 10 + number, 18)}, "malloc", {}};
    leak.loss = Loss{.cause = cause,
                     .stack = {frame("load", "lib/load.c", 90 + number, 5)},
                     .holder = {},
                     .extra = {}};
    Step branch = step("branch", 12 + number, "");
    branch.branch = number % 2 == 0 ? "taken" : "not taken";
    branch.condition = "fd < 0";
    Step call = step("call", 13 + number, "");
    call.call = "read_all";
    leak.path = {step("allocate", 10 + number, "memory is allocated"),
                 branch,
                 call,
                 step("use", 40, "used in the callee"),
                 step("return", 14 + number, "comes back"),
                 step("lose", 90 + number, "lost here")};
    report.leaks.push_back(leak);
    ++number;
  }
  return report;
}

// What hostile or broken input can put into a report.
Report hostile_report() {
  using std::string_literals::operator""s;
  const std::string bad = "\x1b[31m\xFF\xC3(\0\n](http://host/)[x](1) \xE2\x80\xAE"s;
  Report report = base_report(Engine::run);
  report.tool.version = "1" + bad;
  report.tool.mode = bad;
  report.subject.command = {bad, bad, ""};
  report.subject.cwd = "/" + bad;
  report.subject.started = "2026-02-31T12:34:56Z";
  report.subject.pid = -1;
  report.subject.status = Status{.code = {}, .signal = 11, .extra = {}};
  report.subject.host = bad;
  report.modules = {{"/" + bad, bad, bad, {}}};
  report.notes = {{bad, bad, bad, {}}, {"", "", "", {}}};
  Leak leak = overwritten();
  leak.id = bad;
  leak.resource = bad;
  leak.confidence = std::numeric_limits<double>::quiet_NaN();
  leak.direct = {.blocks = ~std::uint64_t{0}, .bytes = ~std::uint64_t{0}, .extra = {}};
  for (Frame& place : leak.allocation.stack) {
    place = frame(bad, "../" + bad, ~std::uint32_t{0}, ~std::uint32_t{0}, 77);
    place.linkage = bad;
    place.offset = ~std::uint64_t{0};
  }
  leak.allocation.api = bad;
  leak.loss->holder->name = bad;
  leak.loss->stack[0] = frame(bad, "/" + bad, 0, 0);
  leak.holders = {{bad, bad, bad, {bad, bad}, {}}};
  leak.suppressed = Suppressed{bad, "", {}};
  leak.fix->text = bad;
  Step step;
  step.location = frame(bad, bad, 1, 1);
  step.event = bad;
  step.call = bad;
  step.condition = bad;
  step.branch = bad;
  leak.path = {step, step};
  Leak nothing;  // no frame at all: the first module stands for it
  Leak module_only;
  module_only.id = leak.id;
  module_only.allocation.stack = {bare_frame("", 0, ~std::uint64_t{0})};
  report.leaks = {leak, nothing, module_only};
  return report;
}

void expect_golden(const std::string& name, const Report& report, const std::string& root) {
  RenderOptions options;
  options.source_root = root;
  const std::string path = fmt::format("{}/{}.sarif", PLUMB_TEST_DATA, name);
  const std::string text = write_sarif(report, options);
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file(path, text).has_value());
  }
  EXPECT_EQ(text, read_file(path).value_or("unreadable")) << path;
}

TEST(SarifGolden, Full) { expect_golden("full", run_report(), "/src/my app"); }
TEST(SarifGolden, Check) { expect_golden("check", check_report(), "/src/my app"); }
TEST(SarifGolden, Empty) { expect_golden("empty", base_report(Engine::run), "/src/my app"); }
TEST(SarifGolden, Hostile) { expect_golden("hostile", hostile_report(), "/src/my app"); }
TEST(SarifGolden, WithoutRoot) {
  Report report = base_report(Engine::run);
  report.leaks = {overwritten()};
  expect_golden("without_root", report, "");
}

}  // namespace
}  // namespace plumb
