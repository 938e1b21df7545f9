// What the source calls a word inside an object: ".as.text", "[3].name", and how
// it writes a type.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plumb {

// The way from an object of this type to the pointer at `offset`; nothing when
// no pointer, nor anything as wide, is there. It ends at members that belong to
// the C++ library: those are not what anybody wrote.
std::optional<std::string> path_to_pointer(Dwarf_Die type, std::uint64_t offset);

// A number, or an array of them: it may have a pointer's place, but hardly is one.
bool is_number(Dwarf_Die type);

// The same through a pointer of this type: "->name" behind `pointer`, "*pointer",
// "pointer[2]".
std::optional<std::string> path_through(Dwarf_Die type, const std::string& pointer,
                                        std::uint64_t offset);

// A name that programs may not give to anything: the library's own.
bool is_reserved(std::string_view name);

// "char *", "const struct Node *"; empty when there is none.
std::string type_name(Dwarf_Die type);

// Of a variable or member. Null: it has none.
const char* name_of(Dwarf_Die* die);
std::optional<Dwarf_Die> type_of(Dwarf_Die* die);
std::uint64_t size_of_type(Dwarf_Die type);

}  // namespace plumb
