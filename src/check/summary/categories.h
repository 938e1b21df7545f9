// A summary in SPARROW's terms: the eight ways in which a call moves memory between
// what the caller sees (its arguments, globals, the result) and the allocator.
//
//   Alloc2Arg   line 6 -> *out           a block made here is found there
//   Arg2Free    n->name                  what the caller gave is freed
//   Arg2Glob    n -> head                what it gave is kept
//
// The guarded cases, which say when, are what the analysis goes by; this is for readers
// who think in the paper's terms, and for tools that compare.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/names.h"
#include "check/model/program.h"
#include "check/summary/summary.h"

namespace plumb::check {

enum class CategoryKind {
  alloc2arg,
  alloc2ret,
  glob2arg,
  glob2ret,
  arg2free,
  arg2glob,
  arg2arg,
  arg2ret,
};

struct Category {
  CategoryKind kind = CategoryKind::alloc2arg;
  std::string from;  // an anchor, as the source would write it; "line 6" of an allocation
  std::string to;    // an anchor; "ret" for the result, nothing for what is freed
  auto operator<=>(const Category&) const = default;
};

// Each once, in the order of the kinds.
std::vector<Category> categories_of(const Program& program, FunctionId function,
                                    const Summary& summary);

}  // namespace plumb::check

namespace plumb {

template <>
inline constexpr auto kNames<check::CategoryKind> = name_table<check::CategoryKind>({
    {check::CategoryKind::alloc2arg, "Alloc2Arg"},
    {check::CategoryKind::alloc2ret, "Alloc2Ret"},
    {check::CategoryKind::glob2arg, "Glob2Arg"},
    {check::CategoryKind::glob2ret, "Glob2Ret"},
    {check::CategoryKind::arg2free, "Arg2Free"},
    {check::CategoryKind::arg2glob, "Arg2Glob"},
    {check::CategoryKind::arg2arg, "Arg2Arg"},
    {check::CategoryKind::arg2ret, "Arg2Ret"},
});

}  // namespace plumb
