// The formats of a report, and the one place that knows them all.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/names.h"
#include "core/report.h"

namespace plumb {

enum class Format { text, json, sarif, html, junit, folded, pprof };

// html: which lines of the sources the page holds.
enum class HtmlSources { needed, whole, none };

template <>
inline constexpr auto kNames<Format> = name_table<Format>({{Format::text, "text"},
                                                           {Format::json, "json"},
                                                           {Format::sarif, "sarif"},
                                                           {Format::html, "html"},
                                                           {Format::junit, "junit"},
                                                           {Format::folded, "folded"},
                                                           {Format::pprof, "pprof"}});
template <>
inline constexpr auto kNames<HtmlSources> = name_table<HtmlSources>(
    {{HtmlSources::needed, "needed"}, {HtmlSources::whole, "whole"}, {HtmlSources::none, "none"}});

struct RenderOptions {
  bool color = false;        // text: use ANSI colours
  unsigned width = 80;       // text: columns
  std::size_t limit = 20;    // text: leaks shown in full; the rest is counted
  bool show_hidden = false;  // text: show suppressed and known leaks, too
  bool verbose = false;      // text: whole stacks, all notes
  HtmlSources html_sources = HtmlSources::needed;
  double live = 0;          // html: the page asks for news every so many seconds
  std::string source_root;  // sarif: paths below it become relative
};

// The report in the given format. The report is complete and ordered.
std::string render(const Report& report, Format format, const RenderOptions& options);

}  // namespace plumb
