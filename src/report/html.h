// The report as one HTML file that shows itself: no network, opens from disk.
//
// Three parts: the page's own code (page_bundle.h, the same for every report),
// the report as JSON, and what else the page needs of us, also as JSON: the frames,
// each once, which the report names by number; source lines; which frame of each
// stack is the telling one; a suppression for each leak. The code reads both from elements of the
// type application/json, which a browser never runs.
//
// Everything of the analysed program (names, paths, source text, suppressions) is
// hostile. In JSON, `<`, `>`, `&` and the line separators of Unicode stand as
// escapes, so that no text can end its element; the Content-Security-Policy
// allows the script and the style whose hashes it names and nothing else, neither
// other scripts nor any request.
#pragma once

#include <string>

#include "base/result.h"
#include "core/report.h"
#include "report/format.h"

namespace plumb {

// An Error when this plumb was built without the page.
Result<void> page_is_there();

std::string write_html(const Report& report, const RenderOptions& options);

// For a page that is open (RenderOptions::live): the two members "report" and "page"
// of a JSON object, with what the page's own two elements would hold.
std::string html_update(const Report& report, const RenderOptions& options);

// JSON text that may stand inside an HTML element: the same value, without any
// character that HTML gives a meaning.
std::string json_for_html(std::string_view json);

}  // namespace plumb
