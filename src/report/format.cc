#include "report/format.h"

#include "report/folded.h"
#include "report/html.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/pprof.h"
#include "report/sarif.h"
#include "report/text.h"

namespace plumb {

std::string render(const Report& report, Format format, const RenderOptions& options) {
  switch (format) {
    case Format::text:
      return write_text(report, options);
    case Format::json:
      return write_json(report);
    case Format::sarif:
      return write_sarif(report, options);
    case Format::html:
      return write_html(report, options);
    case Format::junit:
      return write_junit(report, options);
    case Format::folded:
      return write_folded(report, options);
    case Format::pprof:
      return write_pprof(report, options);
  }
  return {};
}

}  // namespace plumb
