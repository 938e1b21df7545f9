// plumb doctor: is this machine ready for the commands that exist?
//
// A check is `ok`, `missing` (a command does not work without it) or `absent`
// (the result would be better with it). Each that is not ok names its remedy.

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/find_program.h"
#include "base/names.h"
#include "base/paths.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "check/check.h"
#include "driver/build_info.h"
#include "driver/command.h"
#include "driver/known_leak.h"
#include "driver/machine.h"
#include "driver/screen.h"
#include "report/text_cells.h"
#include "report/text_flow.h"
#include "run/run.h"

namespace plumb {

enum class Health { ok, missing, absent };

template <>
inline constexpr auto kNames<Health> = name_table<Health>(
    {{Health::ok, "ok"}, {Health::missing, "missing"}, {Health::absent, "absent"}});

namespace {

struct Check {
  std::string name;
  Health health = Health::ok;
  std::string detail;
  std::string remedy;
};

Check check_system() {
  struct utsname names{};
  if (uname(&names) != 0) return {"system", Health::missing, "unknown", "use Linux on x86-64"};
  const std::string detail =
      fmt::format("{} {} on {}", names.sysname, names.release, names.machine);
  const bool right =
      std::string_view(names.sysname) == "Linux" && std::string_view(names.machine) == "x86_64";
  return {"system", right ? Health::ok : Health::missing, detail,
          right ? "" : "plumb run works on Linux on x86-64"};
}

Check check_libc() {
  return {"C library", Health::ok, fmt::format("glibc {}", gnu_get_libc_version()), ""};
}

Check check_maps() {
  const char* path = "/proc/thread-self/maps";
  const Result<std::string> maps = read_file(path);
  if (maps && !maps->empty()) {
    return {"memory map", Health::ok, fmt::format("{} can be read", path), ""};
  }
  return {"memory map", Health::missing, fmt::format("{} cannot be read", path),
          "mount /proc (in a container: do not hide it)"};
}

bool has_leak(const Report& report, Kind kind, std::size_t direct, std::size_t indirect) {
  return std::ranges::any_of(report.leaks, [&](const Leak& leak) {
    return leak.kind == kind && leak.direct.blocks == 1 && leak.direct.bytes == direct &&
           leak.indirect.bytes == indirect;
  });
}

Check check_library() {
  const Result<std::string> path = support_file("libplumb_preload.so");
  if (path) return {"library", Health::ok, *path, ""};
  return {"library", Health::missing, path.error().what, path.error().hint};
}

Result<RunOutcome> run_known_leak(RunOptions::Look look) {
  const Result<std::string> program = support_file("known-leak");
  if (!program) return std::unexpected(program.error());
  RunOptions options;
  options.command = {*program};
  options.look = look;
  return run_program(options);
}

// The whole of `plumb run` on a program whose leaks are known (known_leak.c).
Check check_run() {
  const Result<RunOutcome> outcome = run_known_leak(RunOptions::Look::scan_only);
  Check check{"plumb run", Health::missing, "", ""};
  if (!outcome) {
    check.detail = outcome.error().what;
    if (!outcome.error().where.empty()) {
      check.detail = fmt::format("{}: {}", outcome.error().where, check.detail);
    }
    check.remedy = outcome.error().hint;
    return check;
  }
  const Report& report = outcome->report;
  const bool lost = has_leak(report, Kind::lost, kLostBytes, kHangingBytes);
  const bool forgotten = has_leak(report, Kind::forgotten, kForgottenBytes, 0);
  if (outcome->wait_status == 0 && lost && forgotten) {
    check.health = Health::ok;
    check.detail = "a test program's lost and forgotten blocks were found";
    return check;
  }
  check.detail = outcome->wait_status != 0 ? "a test program did not end well under it"
                 : lost                    ? "a test program's forgotten block was not found"
                                           : "a test program's lost blocks were not found";
  for (const Note& note : report.notes) {
    check.detail += fmt::format("; {}", note.text);
    if (check.remedy.empty()) check.remedy = note.remedy;
  }
  if (check.remedy.empty()) {
    check.remedy = "try `plumb run --verbose` on a small program of your own; please report it";
  }
  return check;
}

// The second run, under our Valgrind tool, on the same program.
Check check_places() {
  Check check{"loss places", Health::absent, "`plumb run` cannot say where memory was lost", ""};
  const Result<RunOutcome> outcome = run_known_leak(RunOptions::Look::again);
  if (!outcome) return check;  // said already
  const bool placed = std::ranges::any_of(outcome->report.leaks,
                                          [](const Leak& leak) { return leak.loss.has_value(); });
  if (placed) {
    check.health = Health::ok;
    check.detail = "the place where a test program lost its memory was found";
    return check;
  }
  for (const Note& note : outcome->report.notes) {
    if (note.code != "no-place" && note.code != "not-reproduced") continue;
    check.detail += fmt::format("; {}", note.text);
    check.remedy = note.remedy;
  }
  if (check.remedy.empty()) check.remedy = "install plumb again, with its folder valgrind/";
  return check;
}

// The whole of `plumb check` on a function whose leak is known. Whoever does not
// compile does not need it.
Check check_static() {
  constexpr std::string_view kSource =
      "void *malloc(unsigned long);\nint doctor(void) { return malloc(8) ? 1 : 0; }\n";
  if (const Result<std::string> clang = find_clang(false); !clang) {
    return {"plumb check", Health::absent, "clang-19 was not found", clang.error().hint};
  }
  Check check{"plumb check", Health::missing, "", "install plumb again"};
  const Result<check::CheckOutcome> outcome = [&]() -> Result<check::CheckOutcome> {
    const Result<TemporaryFile> source = TemporaryFile::create(".c");
    if (!source) return std::unexpected(source.error());
    if (const Result<void> written = write_file(source->path(), kSource); !written) {
      return std::unexpected(written.error());
    }
    const Result<std::string> models = support_file("models/c.models");
    if (!models) return std::unexpected(models.error());
    check::CheckOptions options;
    options.jobs = {{"/", source->path(), {source->path()}}};
    options.models = {read_file(*models).value_or(""), *models};
    return check::check_program(options);
  }();
  if (!outcome) {
    check.detail = fmt::format("{}: {}", outcome.error().where, outcome.error().what);
    check.remedy = outcome.error().hint;
  } else if (outcome->report.leaks.size() != 1) {
    check.detail = "the leak of a test function was not found";
  } else {
    return {"plumb check", Health::ok, "the leak of a test function was found", ""};
  }
  return check;
}

// What `plumb cc` is made of.
Check check_cc() {
  const std::string version = version_of_program({"clang-19", "--version"});
  if (version.empty()) {
    return {"plumb cc", Health::absent, "clang-19 was not found", "apt install clang-19"};
  }
  for (const char* name : {"libplumb_pass.so", "libplumb_cc.so"}) {
    if (const Result<std::string> path = support_file(name); !path) {
      return {"plumb cc", Health::missing, fmt::format("{}: {}", name, path.error().what),
              path.error().hint};
    }
  }
  return {"plumb cc", Health::ok, fmt::format("with clang {}", version), ""};
}

// Which blocks were touched is read from the process's own page map.
Check check_watch() {
  if (const Result<std::string> path = support_file("libplumb_watch.so"); !path) {
    return {"plumb watch", Health::missing, path.error().what, path.error().hint};
  }
  const char* map = "/proc/self/pagemap";
  if (access(map, R_OK) == 0) {
    return {"plumb watch", Health::ok, fmt::format("{} can be read", map), ""};
  }
  return {"plumb watch", Health::absent,
          fmt::format("{} cannot be read: growth is seen, and not what is idle", map),
          "mount /proc with its pagemap, a kernel with CONFIG_PROC_PAGE_MONITOR"};
}

Check check_libc_symbols() {
  const std::string id = libc_build_id();
  const std::string path = id.size() > 2 ? fmt::format("/usr/lib/debug/.build-id/{}/{}.debug",
                                                       id.substr(0, 2), id.substr(2))
                                         : std::string{};
  std::error_code problem;
  if (!path.empty() && std::filesystem::exists(path, problem)) {
    return {"libc lines", Health::ok, "the C library's debug information is installed", ""};
  }
  return {"libc lines", Health::absent, "frames inside the C library have no lines",
          "apt install libc6-dbg"};
}

Check check_terminal(const Settings& settings) {
  const Screen screen = screen_of(STDOUT_FILENO, settings.text(Opt::color));
  return {"terminal", Health::ok,
          fmt::format("{}, {} columns, {}", screen.terminal ? "yes" : "no", screen.width,
                      screen.color ? "colours" : "no colours"),
          ""};
}

std::string as_text(const std::vector<Check>& checks, bool ready, const Screen& screen) {
  const Page page{.width = screen.width, .color = screen.color};
  std::string text;
  for (const Check& check : checks) {
    const Tone tone = check.health == Health::ok        ? Tone::help
                      : check.health == Health::missing ? Tone::lost
                                                        : Tone::faint;
    text += page.paint(fmt::format("{:<8}", name_of(check.health)), tone);
    text += Paragraph(0, 22)
                .add(fmt::format("{:<14}", check.name))
                .add(printable(check.detail))
                .render({.width = screen.width - 8, .color = false});
    if (!check.remedy.empty()) {
      text += Paragraph(22, 30).add("remedy: " + printable(check.remedy)).render(page);
    }
  }
  text += ready ? "ready.\n" : "not ready: see what is missing.\n";
  return text;
}

std::string as_json(const std::vector<Check>& checks, bool ready) {
  nlohmann::ordered_json root;
  root["schema"] = "plumb-doctor/1";
  root["version"] = kPlumbVersion;
  root["ready"] = ready;
  root["checks"] = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json entry{
        {"name", check.name}, {"status", name_of(check.health)}, {"detail", check.detail}};
    if (!check.remedy.empty()) entry["remedy"] = check.remedy;
    root["checks"].push_back(std::move(entry));
  }
  return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

Result<Ending> command_doctor(const Invocation& call) {
  const Settings& settings = call.settings;
  if (!call.words.empty()) {
    return fail({}, fmt::format("`plumb doctor` takes no words, '{}' is one", call.words.front()));
  }
  const std::vector<Check> checks = {
      check_system(),           check_libc(),   check_maps(), check_library(), check_run(),
      check_places(),           check_static(), check_cc(),   check_watch(),   check_libc_symbols(),
      check_terminal(settings),
  };
  const bool ready = std::ranges::none_of(
      checks, [](const Check& check) { return check.health == Health::missing; });
  const bool to_file = settings.has(Opt::output) && settings.text(Opt::output) != "-";
  const Screen screen = screen_of(to_file ? -1 : STDOUT_FILENO, settings.text(Opt::color));
  const std::string text = settings.text(Opt::plain_format) == "json"
                               ? as_json(checks, ready)
                               : as_text(checks, ready, screen);
  if (const Result<void> good = deliver(settings, STDOUT_FILENO, text); !good) {
    return std::unexpected(good.error());
  }
  return Ending{.status = ready ? kNothingFound : kFindings};
}

}  // namespace plumb
