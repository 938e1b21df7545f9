// One leak as a paragraph for people. It starts `file:line:col: leak[kind]:`,
// so that editors jump to it, says first what happened and where, then shows
// the source, then what helps to mend it.
//
// The place at the start is the loss; where that is unknown the end of a
// static path, else the allocation.
#pragma once

#include <string>

#include "base/source.h"
#include "core/report.h"
#include "report/format.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

// What all findings of a report share. The report outlives it.
struct TextContext {
  TextContext(const Report& report, const RenderOptions& options);

  const Report& report;
  bool verbose;
  Page page;
  SourceCache sources;
  Places places;
};

// The place that a finding starts with; null when none is known.
const Frame* start_frame(const Leak& leak, const Report& report);

// How it starts, on one line however long, without colours and line end.
std::string headline_of(const Leak& leak, TextContext& context);

// Everything known, several lines.
std::string write_finding(const Leak& leak, TextContext& context);

// Headline and where from: for leaks that most readers want to skip.
std::string write_terse_finding(const Leak& leak, TextContext& context);

}  // namespace plumb
