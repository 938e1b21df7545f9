// Errors that are somebody's input, not our fault.
//
// A function that reads what a user wrote returns Result<T>. An Error says
// where (a file and a place in it, as far as known), what, and what to do.
// Broken invariants of our own are PLUMB_CHECK (check.h), never an Error.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace plumb {

struct Error {
  std::string where;  // "app.json:3:14", "plumb.toml:7", or empty
  std::string what;   // one sentence, no full stop
  std::string hint;   // the remedy, or empty

  // "plumb: error: WHERE: WHAT\n  hint: HINT\n", as every command prints it.
  std::string message() const;

  // The same error with a prefix for the place: in("a.json") of ":3:14".
  Error in(std::string_view file) const;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string where, std::string what, std::string hint = {}) {
  return std::unexpected(Error{std::move(where), std::move(what), std::move(hint)});
}

}  // namespace plumb
