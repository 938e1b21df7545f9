// Which functions of a program are members of containers that hold raw pointers, and
// what they do to the elements.
//
// Templates of the C++ library are read as any other code, except for what a container
// of pointers *holds*: its code moves elements between arrays of unknown length, links
// nodes in functions that are not in the headers, and would have to be followed through
// all that to say no more than "what is put in is in". So models/containers.models says
// which class templates are containers, which of their arguments is the element, and
// what the members do; that counts when the element is a pointer, and instead of the
// members' code. A member that is not listed may do anything to the elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/demangle.h"
#include "base/result.h"

namespace plumb::check {

// The text of a file of models, or of lines in plumb.toml.
struct ModelText {
  std::string text;
  std::string where;  // for messages
};

// What a member does to the elements: container_call.cc.
enum class ContainerEffect : std::uint8_t {
  none,
  starts,  // a new container: empty
  takes,   // what the parameters refer to goes in
  copies,  // the elements of another container go in, instead of what was there
  moves,   // and are taken out of the other
  swaps,
  gives,     // an address of an element comes back
  begins,    // that of the first
  finishes,  // that behind the last
  steps,     // an iterator goes on
  counts,
  asks_empty,
  empties,
  ends,  // the container is no more
  nothing,
  unknown,  // anything
};

class Containers {
 public:
  Result<void> add(const ModelText& models);

  // The effect of a member of a container of pointers; nothing when it is none.
  std::optional<ContainerEffect> find(const std::string& symbol, Demangler& demangle) const;

 private:
  struct Class {
    std::size_t element = 0;  // template argument, from 0
    bool iterator = false;    // steps; the argument is the element, or a pair with it
  };
  std::unordered_map<std::string, Class> classes_;  // "std::vector"
  std::unordered_map<std::string, ContainerEffect> members_;
};

// Is the function, by its symbol, a member of a container of the C++ library, whatever that
// holds? Such a one may move what it holds anywhere, but neither keeps nor frees the
// container itself, nor the object that this is a part of.
bool is_member_of_container(std::string_view symbol);

}  // namespace plumb::check
