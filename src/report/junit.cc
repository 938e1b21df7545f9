// JUnit XML, as GitLab, GitHub's test reporters and Jenkins read it. There is
// no one standard: what all of them show is the class name, the name and the
// body of a failure, so the finding is in the body.
//
// A leak is a test case that failed. What somebody decided not to see
// (suppressed, known) and what is still reachable (forgotten) is a skipped
// one. Where nothing failed there is one case that passed: CI tools take an
// empty suite for a broken one.
#include "report/junit.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"
#include "report/text_finding.h"
#include "report/text_summary.h"
#include "report/text_words.h"

namespace plumb {

namespace {

// Text for an attribute or an element. Well-formed UTF-8 is put in as it is,
// except for what XML 1.0 cannot hold in any form.
std::string xml(std::string_view bytes) {
  const std::string text = to_utf8(bytes);
  std::string escaped;
  escaped.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '&':
        escaped += "&amp;";
        continue;
      case '<':
        escaped += "&lt;";
        continue;
      case '>':
        escaped += "&gt;";
        continue;
      case '"':
        escaped += "&quot;";
        continue;
      case '\n':
        escaped += '\n';
        continue;
      default:
        break;
    }
    const std::string_view rest = std::string_view(text).substr(i);
    const bool noncharacter = rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");
    if (noncharacter || (static_cast<unsigned char>(c) < 0x20 && c != '\t')) {
      escaped += "\xEF\xBF\xBD";
      if (noncharacter) i += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// "src/net/server.c" -> "src.net.server_c": Jenkins takes dots for packages.
std::string class_name(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (c == '/') {
      if (!name.empty() && name.back() != '.') name += '.';
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += byte >= 0x80 || std::isalnum(byte) != 0 ? c : '_';
    }
  }
  return name.empty() ? "unknown" : name;
}

std::string skip_reason(const Leak& leak) {
  if (leak.hidden()) return hidden_reason(leak);
  return leak.kind == Kind::forgotten ? "forgotten: not freed, but still reachable at the end" : "";
}

std::string test_case(const Leak& leak, TextContext& context) {
  const Frame* frame = start_frame(leak, context.report);
  const std::string file = frame == nullptr ? "" : context.places.file(frame->file);
  std::string owner = file;
  if (owner.empty() && frame != nullptr) {
    const std::string address = context.places.address(*frame);
    owner = address.substr(0, address.find('+'));
  }
  std::string name = frame == nullptr ? "?" : context.places.function(*frame);
  name += fmt::format(": {}", name_of(leak.kind));
  if (const Count sum = leak.total(); sum.blocks > 0 || sum.bytes > 0) {
    name += " " + count_of(sum.bytes, "byte");
  }
  if (!leak.id.empty()) name += " " + printable(leak.id);

  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(class_name(owner)), xml(name));
  if (!file.empty()) text += fmt::format(" file=\"{}\"", xml(file));
  if (!file.empty() && frame->line) text += fmt::format(" line=\"{}\"", *frame->line);
  text += " time=\"0\">\n";
  if (const std::string reason = skip_reason(leak); !reason.empty()) {
    text += fmt::format("      <skipped message=\"{}\"/>\n", xml(reason));
  } else {
    text += fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n",
                        xml(headline_of(leak, context)), name_of(leak.kind),
                        xml(write_finding(leak, context)));
  }
  return text + "    </testcase>\n";
}

}  // namespace

std::string write_junit(const Report& report, const RenderOptions& options) {
  RenderOptions plain = options;
  plain.color = false;
  TextContext context(report, plain);
  std::string cases;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const Leak& leak : report.leaks) {
    ++(skip_reason(leak).empty() ? failures : skipped);
    cases += test_case(leak, context);
  }
  std::size_t tests = failures + skipped;
  if (failures == 0) {
    ++tests;
    cases += "    <testcase classname=\"plumb\" name=\"no leaks\" time=\"0\"/>\n";
  }

  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\"", tests,
                  failures, skipped, std::max(0.0, report.subject.duration.value_or(0)));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites name=\"plumb\" {}>\n", counts);
  text += fmt::format("  <testsuite name=\"plumb {}\" {}", name_of(report.tool.engine), counts);
  if (!report.subject.started.empty())
    text += fmt::format(" timestamp=\"{}\"", xml(report.subject.started));
  if (!report.subject.host.empty())
    text += fmt::format(" hostname=\"{}\"", xml(report.subject.host));
  text += ">\n" + cases;
  text += fmt::format("    <system-out>{}</system-out>\n", xml(summary_line(report)));
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace plumb
