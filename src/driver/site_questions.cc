#include "driver/site_questions.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "driver/input.h"
#include "report/text_cells.h"
#include "trace/symbolise.h"

namespace plumb {

namespace {

// Names of addresses in modules that come to be known one after the other.
class Names {
 public:
  Stack stack(std::string_view question) {
    Stack stack;
    for (const std::string_view line : split(question, '\n')) {
      const std::size_t blank = line.find(' ');
      if (blank == std::string_view::npos) continue;
      std::uint64_t offset = 0;
      std::from_chars(line.data(), line.data() + blank, offset);
      const std::vector<Frame>& frames =
          module(std::string(line.substr(blank + 1))).frames({ModuleId{0}, offset, true});
      stack.insert(stack.end(), frames.begin(), frames.end());
    }
    return stack;
  }

 private:
  Symboliser& module(const std::string& path) {
    const auto known = modules_.find(path);
    if (known != modules_.end()) return known->second;
    Module module;
    module.path = path;
    return modules_.emplace(path, Symboliser({std::move(module)})).first->second;
  }

  std::map<std::string, Symboliser> modules_;
};

bool say(char answer) { return send(STDIN_FILENO, &answer, 1, MSG_NOSIGNAL) == 1; }

}  // namespace

Result<Sites> load_sites(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::unexpected(text.error());
  if (!trim(*text).starts_with('{')) return Sites::read(*text, printable(path));
  const Result<Report> report = load_report(path);
  if (!report) return std::unexpected(report.error());
  Sites sites;
  for (const Leak& leak : report->leaks) sites.add(leak.allocation.stack);
  if (sites.count() == 0) {
    return fail(printable(path), "no leak that can be recognised is in it");
  }
  return sites;
}

Result<Ending> answer_site_questions(const std::string& path) {
  const Result<Sites> sites = load_sites(path);
  if (!sites) return std::unexpected(sites.error());
  Names names;
  std::array<char, 8192> question;
  for (bool going = say('y'); going;) {
    const ssize_t size = recv(STDIN_FILENO, question.data(), question.size(), 0);
    if (size <= 0) break;
    const std::string_view text(question.data(), static_cast<std::size_t>(size));
    going = say(sites->has(names.stack(text)) ? 'y' : 'n');
  }
  return Ending{.status = 0};
}

}  // namespace plumb
