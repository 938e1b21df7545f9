// Reports for the tests of the JSON writer and reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/report.h"

namespace plumb {

inline Frame test_frame(std::string function, std::string file, std::uint32_t line) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::move(file);
  frame.line = line;
  return frame;
}

inline Count test_count(std::uint64_t blocks, std::uint64_t bytes) {
  Count count;
  count.blocks = blocks;
  count.bytes = bytes;
  return count;
}

// Every member of the model is set, and every object has an unknown member.
// The totals add up.
inline Report full_report() {
  const Extra unknown = {{"x-new", R"({"a": [1, 2.50, null]})"}};
  Frame frame = test_frame("grow(table*)", "/src/server.c", 51);
  frame.linkage = "_Z4growP5table";
  frame.column = 13;
  frame.function_line = 40;
  frame.inlined = true;
  frame.module = ModuleId::of(1);
  frame.offset = 0xFFFFFFFFFFFFFFFFU;
  frame.extra = unknown;
  const Stack stack = {frame, test_frame("main", "/src/main.c", 7)};

  Holder holder;
  holder.name = "ht->name";
  holder.type = "char *";
  holder.storage = "heap";
  holder.chain = {"g_table", "g_table->slots[3]"};
  holder.extra = unknown;

  Report report;
  report.schema_minor = 7;
  report.tool.version = "0.1.0";
  report.tool.engine = Engine::watch;
  report.tool.mode = "full";
  report.tool.extra = unknown;
  report.subject.command = {"./server", "--name", "a \"b\"\n\x01\x7F \xC2\x9B \xE2\x82\xAC"};
  report.subject.cwd = "/home/user";
  report.subject.pid = 4242;
  report.subject.started = "2026-01-31T12:00:00Z";
  report.subject.duration = 1.25;
  report.subject.status = Status{.code = -1, .signal = 11, .extra = unknown};
  report.subject.host = "box";
  report.subject.units = 12;
  report.subject.flags = "9f86d081";
  report.subject.extra = unknown;
  report.modules = {{"/usr/bin/server", "c0ffee", "full", unknown}, {"/lib/libc.so.6", "", "", {}}};

  Leak lost;
  lost.id = "0123456789abcdef";
  lost.kind = Kind::lost;
  lost.confidence = 0.1;
  lost.resource = "file";
  lost.when = When::error_path;
  lost.direct = test_count(3, 4096);
  lost.indirect = test_count(2, 64);
  lost.indirect.extra = unknown;
  lost.sizes = SizeRange{.min = 16, .max = 4064, .extra = unknown};
  lost.allocation = {stack, "operator new[]", unknown};
  lost.loss = Loss{Cause::holder_freed, stack, holder, unknown};
  lost.last_use = LastUse{stack, UseKind::copy, unknown};
  lost.window = stack;
  lost.frees = {{stack, 9, unknown}};
  lost.holders = {holder};
  lost.path = {{frame, "branch", "taken when n > 9", "taken", "n > 9", "grow", unknown}};
  lost.summaries = {{"grow",
                     "frees its argument",
                     {{"n1", "arg", "freed", unknown}},
                     {{"n1", "n2", ".next", true, unknown}},
                     unknown}};
  lost.age =
      Age{"cpu-seconds", "leak", 9, 10, 11.5, 1, 2, 3, 4, 1e300, 6.5, {0, 1, 0.25}, 0.5, unknown};
  lost.fix = Fix{frame, "free(ht->name);", unknown};
  lost.suppressed = Suppressed{"plumb.supp:3", "third party", unknown};
  lost.known = true;
  lost.extra = unknown;

  Leak forgotten;  // as little as there can be
  forgotten.id = "fedcba9876543210";
  forgotten.kind = Kind::forgotten;
  forgotten.direct = test_count(1, 8);
  report.leaks = {lost, forgotten};

  Totals& totals = report.totals;
  totals.allocated = test_count(20, 10240);
  totals.freed = test_count(8, 4064);
  totals.lost = test_count(6, 5000);
  totals.stale = test_count(2, 200);
  totals.forgotten = test_count(3, 900);
  totals.excluded = test_count(1, 76);
  totals.omitted_lost = test_count(1, 840);
  totals.omitted_stale = test_count(2, 200);
  totals.omitted_forgotten = test_count(2, 892);
  totals.omitted_extra = unknown;
  totals.suppressed = 1;
  totals.known = 1;
  totals.functions = 100;
  totals.units = 12;
  totals.undecided = 3;
  totals.skipped_units = 1;
  totals.stages = {{"flow", 50, 20, unknown}};
  totals.lost.extra = unknown;
  totals.extra = unknown;
  report.notes = {
      {"no-debug-info", "libfoo.so has no line numbers", "install libfoo-dbg", unknown}};
  report.series = {{0.5, 18446744073709551615U, 7, 1.5, unknown}, {1, 2, 3, {}, {}}};
  report.extra = unknown;
  return report;
}

// About a kilobyte per leak: five frames.
inline Report big_report(std::size_t leaks) {
  Report report;
  report.tool.version = "0.1.0";
  report.tool.mode = "scan";
  report.modules = {{"/usr/bin/server", "c0ffee", "full", {}}};
  Stack outer;
  for (std::uint32_t depth = 0; depth < 3; ++depth) {
    Frame frame = test_frame(fmt::format("server::handle_request_{}(int)", depth),
                             "/home/user/src/server/request.cc", 100 + depth);
    frame.module = ModuleId::of(0);
    frame.offset = 0x41000 + depth;
    outer.push_back(frame);
  }
  for (std::size_t i = 0; i < leaks; ++i) {
    Leak leak;
    leak.id = fmt::format("{:016x}", i * 0x9E3779B97F4A7C15U);
    leak.direct = test_count(1, 64 + i % 1000);
    leak.allocation.api = "malloc";
    Frame inner = test_frame(fmt::format("server::allocate_{}(unsigned long)", i),
                             "/home/user/src/server/buffer.cc", static_cast<std::uint32_t>(i + 1));
    inner.module = ModuleId::of(0);
    inner.offset = 0x50000 + i;
    leak.allocation.stack.push_back(inner);
    leak.allocation.stack.insert(leak.allocation.stack.end(), outer.begin(), outer.end());
    leak.loss.emplace().cause = Cause::overwritten;
    leak.loss->stack.push_back(inner);
    report.totals.lost += leak.direct;
    report.leaks.push_back(std::move(leak));
  }
  report.totals.allocated = report.totals.lost;
  return report;
}

}  // namespace plumb
