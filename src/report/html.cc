#include "report/html.h"

#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "core/suppression.h"
#include "report/html_sources.h"
#include "report/json.h"
#include "report/json_string.h"
#include "report/page_bundle.h"
#include "report/text_stack.h"
#include "report/text_summary.h"

namespace plumb {

namespace {

// Of longer lists the page makes entries from the fingerprint alone.
constexpr std::size_t kMostSuppressions = 2000;

std::string text_for_html(std::string_view text) {
  std::string out;
  for (const char c : to_utf8(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string title_of(const Report& report) {
  std::string title = summary_line(report);
  if (title.ends_with('.')) title.pop_back();
  if (!report.subject.command.empty()) {
    title += fmt::format(" - {}", base_name(report.subject.command.front()));
  }
  return title + " - plumb";
}

// The index of the telling frame, and of those from the allocator's caller to
// main: [lead, first, end]. Null for a stack that is not there.
std::string view_of(const Stack* stack, const Report& report) {
  if (stack == nullptr || stack->empty()) return "null";
  const Lead lead = lead_of(*stack, report);
  const std::span<const Frame> frames = program_frames(*stack);
  const std::ptrdiff_t at = lead.frame == nullptr ? -1 : lead.frame - stack->data();
  const std::ptrdiff_t first = frames.empty() ? 0 : frames.data() - stack->data();
  const std::size_t end =
      frames.empty() ? stack->size() : static_cast<std::size_t>(first) + frames.size();
  return fmt::format("[{},{},{}]", at, first, end);
}

std::string page_data(const Report& report, const std::string& frames,
                      const RenderOptions& options) {
  bool cut = false;
  std::string out = "{\"frames\":" + frames + ",\n\"views\":[";
  for (const Leak& leak : report.leaks) {
    if (out.back() != '[') out += ',';
    out += fmt::format("[{},{},{}]", view_of(&leak.allocation.stack, report),
                       view_of(leak.last_use ? &leak.last_use->stack : nullptr, report),
                       view_of(leak.loss ? &leak.loss->stack : nullptr, report));
  }
  out += "],\n\"suppressions\":[";
  if (report.leaks.size() <= kMostSuppressions) {
    for (const Leak& leak : report.leaks) {
      if (out.back() != '[') out += ',';
      json::append_string(out, suppression_for(leak, report));
    }
  }
  out += "],\n\"sources\":";
  out += html_sources(report, options.html_sources, cut);
  if (options.live > 0) out += fmt::format(",\n\"live\":{{\"every\":{}}}", options.live);
  return out + fmt::format(",\n\"cut\":{}}}\n", cut);
}

}  // namespace

std::string json_for_html(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (json.substr(i, 3) == "\u2028" || json.substr(i, 3) == "\u2029") {
      out += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

Result<void> page_is_there() {
  if (!page_bundle().script.empty()) return {};
  return fail({}, "this plumb was built without the page of --format=html",
              "build it again where npm is in reach; see web/README.md");
}

std::string html_update(const Report& report, const RenderOptions& options) {
  const CompactJson json = write_compact_json(report);
  return fmt::format("\"report\":{},\n\"page\":{}", json.report,
                     page_data(report, json.frames, options));
}

std::string write_html(const Report& report, const RenderOptions& options) {
  const PageBundle& page = page_bundle();
  PLUMB_CHECK(!page.script.empty());
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src '{}'; style-src '{}'{}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>",
      page.script_hash, page.style_hash, options.live > 0 ? "; connect-src 'self'" : "",
      text_for_html(title_of(report)));
  for (const std::string_view piece : page.style) out += piece;
  out +=
      "</style>\n</head>\n<body>\n<noscript>This page needs JavaScript. It loads nothing from "
      "anywhere; `plumb report` shows the same report as text.</noscript>\n"
      "<script type=\"application/json\" id=\"plumb-report\">";
  const CompactJson json = write_compact_json(report);
  out += json_for_html(json.report);
  out += "</script>\n<script type=\"application/json\" id=\"plumb-page\">";
  out += json_for_html(page_data(report, json.frames, options));
  out += "</script>\n<script>";
  for (const std::string_view piece : page.script) out += piece;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace plumb
