// Where output goes and what that place can show. The only code that decides
// about colours and widths.
#pragma once

#include <string_view>

#include "base/result.h"
#include "driver/settings.h"

namespace plumb {

struct Screen {
  bool terminal = false;
  bool color = false;
  unsigned width = 80;
};

// What the stream can show. COLUMNS wins over the terminal's own width; a
// stream that is no terminal has 80 columns. `when` is the value of --color.
Screen screen_of(int stream, std::string_view when);

// The whole text to a stream. A reader of standard output that went away ends
// the command as it ends other tools, by SIGPIPE.
Result<void> write_stream(int stream, std::string_view text);

// The text to the file of --output, or else to the stream.
Result<void> deliver(const Settings& settings, int stream, std::string_view text);

// "plumb: note: TEXT" on standard error, unless --quiet.
void note(const Settings& settings, std::string_view text);

}  // namespace plumb
