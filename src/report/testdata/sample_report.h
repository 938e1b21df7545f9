// Reports of an imagined program, one for each thing a report can be about,
// with the source in testdata/shop. They stand for what the engines deliver:
// complete, ordered, with totals that add up.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/report.h"

namespace plumb::sample {

inline constexpr const char* kRoot = "/home/user/shop";

// A frame in one of the shop's own files.
inline Frame at(std::string function, const std::string& file, std::uint32_t line,
                std::optional<std::uint32_t> column = std::nullopt) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::string(kRoot) + "/" + file;
  frame.line = line;
  frame.column = column;
  frame.module = ModuleId::of(0);
  frame.offset = 0x1000 + line;
  return frame;
}

// A frame of a library that has a symbol at best.
inline Frame in_module(std::string function, std::uint32_t module, std::uint64_t offset) {
  Frame frame;
  frame.function = std::move(function);
  frame.module = ModuleId::of(module);
  frame.offset = offset;
  return frame;
}

inline Frame in_header(std::string function, std::string file, std::uint32_t line) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::move(file);
  frame.line = line;
  frame.module = ModuleId::of(0);
  frame.offset = 0x9000 + line;
  frame.inlined = true;
  return frame;
}

inline Count count(std::uint64_t blocks, std::uint64_t bytes) {
  Count result;
  result.blocks = blocks;
  result.bytes = bytes;
  return result;
}

// Without leaks; everything allocated was freed.
inline Report clean() {
  Report report;
  report.tool.version = "0.1.0";
  report.tool.engine = Engine::run;
  report.tool.mode = "scan";
  report.subject.command = {"./shop", "--port=80"};
  report.subject.cwd = kRoot;
  report.subject.pid = 4242;
  report.subject.started = "2026-11-16T08:00:00Z";
  report.subject.duration = 1.25;
  report.subject.status = Status{0, std::nullopt, {}};
  report.modules = {Module{"/home/user/shop/shop", "a1b2", "full", {}},
                    Module{"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "c3d4", "symbols", {}},
                    Module{"/usr/lib/x86_64-linux-gnu/libc.so.6", "e5f6", "symbols", {}}};
  report.totals.allocated = report.totals.freed = count(1234, 99000);
  return report;
}

// Adds to the list and to the totals.
inline void add(Report& report, Leak leak) {
  Totals& totals = report.totals;
  const Count sum = leak.total();
  totals.allocated += sum;
  switch (leak.kind) {
    case Kind::lost:
      totals.lost += sum;
      break;
    case Kind::stale:
      totals.stale += sum;
      break;
    case Kind::forgotten:
      totals.forgotten += sum;
      break;
    case Kind::double_free:
    case Kind::mismatched_free:
      break;
  }
  if (leak.suppressed) ++totals.suppressed;
  if (leak.known) ++totals.known;
  report.leaks.push_back(std::move(leak));
}

inline Stack below_main(Stack stack, std::uint32_t line = 49) {
  stack.push_back(at("main", "server.c", line, 3));
  stack.push_back(in_module("__libc_start_call_main", 2, 0x271c9));
  stack.push_back(in_module("_start", 0, 0x10a0));
  return stack;
}

inline Leak overwritten_buffer() {
  Leak leak;
  leak.id = "0123456789abcdef";
  leak.direct = count(12, 49152);
  leak.sizes = SizeRange{4096, 4096, {}};
  leak.allocation.api = "malloc";
  leak.allocation.stack =
      below_main({in_module("malloc", 2, 0x98850), at("grow", "server.c", 18, 13),
                  at("handle", "server.c", 31, 11)});
  Loss loss;
  loss.cause = Cause::overwritten;
  loss.stack = below_main({at("handle", "server.c", 31, 9)});
  loss.holder = Holder{"buf", "char *", "global", {}, {}};
  leak.loss = loss;
  LastUse use;
  use.stack = below_main({at("handle", "server.c", 29, 5)});
  use.what = UseKind::call;
  leak.last_use = use;
  leak.window = {at("handle", "server.c", 29), at("handle", "server.c", 31)};
  SiblingFree sibling;
  sibling.stack = below_main(
      {in_module("free", 2, 0x99000), at("close_connection", "connection.c", 99, 3)}, 51);
  sibling.blocks = 1;
  leak.frees = {sibling};
  leak.fix = Fix{at("handle", "server.c", 31), "call free(buf) before buf is assigned again", {}};
  return leak;
}

// The exact engines: loss, last use, window.
inline Report exact() {
  Report report = clean();
  report.tool.engine = Engine::cc;
  report.tool.mode = "full";
  add(report, overwritten_buffer());

  Leak catalog;
  catalog.id = "1111222233334444";
  catalog.direct = count(1, 64);
  catalog.indirect = count(3, 120);
  catalog.allocation.api = "operator new";
  catalog.allocation.stack =
      below_main({in_module("operator new(unsigned long)", 2, 0x5000),
                  at("shop::load_catalog(char const*)", "catalog.cc", 16, 19)},
                 48);
  Loss loss;
  loss.cause = Cause::scope_end;
  loss.stack = below_main({at("shop::load_catalog(char const*)", "catalog.cc", 19, 3)}, 48);
  loss.holder = Holder{"catalog", "shop::Catalog *", "local", {}, {}};
  catalog.loss = loss;
  LastUse use;
  use.stack = below_main({at("shop::Catalog::add(std::string, int)", "server.c", 20, 3)}, 48);
  catalog.last_use = use;
  add(report, catalog);
  return report;
}

// Phase one of `run`: what is lost and where it came from; forgotten blocks,
// hidden leaks, notes.
inline Report scan() {
  Report report = clean();

  Leak body;
  body.id = "aaaaaaaaaaaaaaaa";
  body.direct = count(4, 260);
  body.indirect = count(1, 16);
  body.sizes = SizeRange{20, 120, {}};
  body.allocation.api = "strdup";
  body.allocation.stack =
      below_main({in_module("malloc", 2, 0x98850), in_module("strdup", 2, 0x9d000),
                  at("parse", "server.c", 36, 14)});
  add(report, body);

  Leak item;
  item.id = "bbbbbbbbbbbbbbbb";
  item.direct = count(1, 128);
  item.allocation.api = "operator new";
  const std::string vector = "std::vector<shop::Item*, std::allocator<shop::Item*> >";
  item.allocation.stack = below_main(
      {in_module("operator new(unsigned long)", 2, 0x5000),
       in_header("std::__new_allocator<shop::Item*>::allocate(unsigned long, void const*)",
                 "/usr/include/c++/12/bits/new_allocator.h", 137),
       in_header("void " + vector + "::_M_realloc_insert<shop::Item* const&>(int)",
                 "/usr/include/c++/12/bits/vector.tcc", 440),
       in_header(vector + "::push_back(shop::Item* const&)",
                 "/usr/include/c++/12/bits/stl_vector.h", 1287),
       at("shop::Catalog::add(std::string, int)", "catalog.cc", 12, 30),
       at("shop::load_catalog(char const*)", "catalog.cc", 18, 28)},
      48);
  add(report, item);

  Leak library;
  library.id = "cccccccccccccccc";
  library.direct = count(1, 1);
  library.allocation.api = "malloc";
  library.allocation.stack = {in_module("malloc", 2, 0x98850),
                              in_module("CRYPTO_zalloc", 1, 0x1a2b3c), in_module("", 1, 0x1a2f00)};
  add(report, library);

  Leak table;
  table.id = "dddddddddddddddd";
  table.kind = Kind::forgotten;
  table.direct = count(3, 512);
  table.allocation.api = "malloc";
  table.allocation.stack =
      below_main({in_module("malloc", 2, 0x98850), at("grow", "server.c", 18, 13),
                  at("say", "server.c", 43, 43)},
                 50);
  table.holders = {Holder{"g_table", "", "global", {"g_table", "->rows", "[3]"}, {}}};
  add(report, table);

  Leak locale = table;
  locale.id = "eeeeeeeeeeeeeeee";
  locale.direct = count(1, 40);
  locale.holders.clear();
  locale.allocation.stack = below_main({in_module("setlocale", 2, 0x3000)}, 48);
  add(report, locale);

  Leak suppressed = body;
  suppressed.id = "ffffffffffffffff";
  suppressed.allocation.stack = below_main({at("say", "server.c", 43, 100)}, 50);
  suppressed.suppressed = Suppressed{"leaks.toml:3", "freed by the next release", {}};
  add(report, suppressed);
  Leak known = suppressed;
  known.id = "9999999999999999";
  known.suppressed.reset();
  known.known = true;
  known.allocation.stack = below_main({at("say", "server.c", 43, 43)}, 50);
  add(report, known);

  const Note stripped{"no-debug-info",
                      "libcrypto.so.3 has no debug information",
                      "apt install libssl3-dbgsym, or link with -g",
                      {}};
  report.notes = {stripped,
                  Note{"threads",
                       "1 of 9 threads did not answer; what only it held may be "
                       "reported as lost",
                       "",
                       {}},
                  stripped};
  return report;
}

inline Step step(std::uint32_t line, std::string event, std::string text) {
  Step result;
  result.location = at("parse", "server.c", line);
  result.event = std::move(event);
  result.text = std::move(text);
  return result;
}

// The static engine: paths, no blocks at run time.
inline Report check(std::size_t loops = 9) {
  Report report = clean();
  report.tool.engine = Engine::check;
  report.tool.mode = "";
  report.subject = Subject{};
  report.subject.cwd = kRoot;
  report.totals = Totals{};
  report.totals.functions = 34;
  report.totals.units = 5;
  report.totals.undecided = 1;

  Leak body;
  body.id = "5555666677778888";
  body.confidence = 0.7;
  body.when = When::error_path;
  body.allocation.api = "strdup";
  body.allocation.stack = {at("parse", "server.c", 36, 14)};
  Loss loss;
  loss.cause = Cause::scope_end;
  loss.stack = {at("parse", "server.c", 37, 25)};
  loss.holder = Holder{"out->body", "char *", "parameter", {}, {}};
  body.loss = loss;
  body.path = {step(36, "allocate", "strdup returns a new block, stored in out->body")};
  Step branch = step(37, "branch", "");
  branch.condition = "strlen(line) > 80";
  branch.branch = "taken";
  for (std::size_t i = 0; i < loops; ++i) {
    Step call = step(27, "call", "");
    call.call = "send_reply";
    body.path.push_back(call);
    Step turn = step(27, "branch", "the loop goes on");
    turn.branch = "taken";
    body.path.push_back(turn);
  }
  body.path.push_back(branch);
  body.path.push_back(step(37, "lose", "out->body is not visible to the caller on failure"));
  report.leaks.push_back(body);

  Leak local;
  local.id = "1212121212121212";
  local.direct.bytes = 16;
  local.allocation.api = "malloc";
  local.allocation.stack = {at("grow", "server.c", 18, 13)};
  local.path = {step(18, "allocate", "malloc(n)"), step(22, "return", "p is returned and dropped")};
  report.leaks.push_back(local);
  return report;
}

// The sampled engine.
inline Report watch() {
  Report report = clean();
  report.tool.engine = Engine::watch;
  report.tool.mode = "sampled";
  Leak leak;
  leak.id = "7777777777777777";
  leak.kind = Kind::stale;
  leak.direct = count(128, 1048576);
  leak.allocation.api = "operator new";
  leak.allocation.stack =
      below_main({at("shop::Catalog::add(std::string, int)", "catalog.cc", 11, 16),
                  at("shop::load_catalog(char const*)", "catalog.cc", 18, 28)},
                 48);
  LastUse use;
  use.stack = below_main({at("shop::Catalog::add(std::string, int)", "catalog.cc", 12, 20)}, 48);
  use.what = UseKind::copy;
  leak.last_use = use;
  Age age;
  age.idle = 12300000;
  age.active = 2400000.25;
  age.drag = 1.29e13;
  age.growth = 1.25;
  age.missed_chance = 0.031;
  leak.age = age;
  leak.holders = {
      Holder{"by_price_[7][3]", "", "heap", {"g_catalog", "by_price_", "[7]", "[3]"}, {}}};
  add(report, leak);
  return report;
}

// Everything that comes from outside wants to do harm.
inline Report hostile() {
  Report report = clean();
  Leak leak;
  leak.id = "id\x1b[31m<&>";
  leak.direct = count(1, 8);
  leak.allocation.api = "mal\nloc";
  Frame evil = at("f\x1b[2J;\n<b>&\"\x01'\xff", "no\x1b]0;title\x07/such.c", 3, 7);
  Frame wide = at("数据库::連接<int>(int)", "数据/連接.cc", 12, 1);
  Frame mirrored = at("access\u202E gnitirw", "mirror.c", 1, 1);
  Frame endless =
      at("std::map<" + std::string(4000, 'x') + ">::get", std::string(300, 'd') + ".c", 2);
  leak.allocation.stack = {evil, wide, mirrored, endless, at("", "", 0)};
  leak.allocation.stack.back().file.clear();
  leak.allocation.stack.back().module = ModuleId::of(77);
  Loss loss;
  loss.stack = {wide};
  loss.holder = Holder{"p\x1b[0m\t]]>", "", "", {}, {}};
  leak.loss = loss;
  add(report, leak);
  report.notes = {Note{"x", "a note\x1b[5m with\r\nlines", "rm\x07 it", {}}};
  return report;
}

}  // namespace plumb::sample
