// Visits the DIEs below one DIE in the order of the file, each once.
//
// libdw's dwarf_siblingof() has to pass over all children when the compiler
// wrote no DW_AT_sibling (clang writes none), so going down and then on to the
// sibling would read each level again. Here the end of a list of children
// itself tells where the parent's sibling begins.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstddef>

namespace plumb {

class DieWalk {
 public:
  // Starts at the first child.
  explicit DieWalk(Dwarf_Die root) : die_(root) {
    if (dwarf_child(&root, &die_) == 0) {
      depth_ = 1;
      read_tag();
    }
  }

  bool done() const { return depth_ == 0; }
  Dwarf_Die* die() { return &die_; }
  int tag() const { return tag_; }
  std::size_t depth() const { return depth_; }  // children of the root: 1

  // On to the first child, or past this DIE when it has none.
  void enter() {
    Dwarf_Die child;
    if (depth_ < kDeepest && dwarf_child(&die_, &child) == 0) {
      die_ = child;
      ++depth_;
      read_tag();
    } else {
      skip();
    }
  }

  // Past this DIE and all below it.
  void skip() {
    Dwarf_Die next;
    int state = dwarf_siblingof(&die_, &next);
    while (state == 1 && next.addr != nullptr) {
      // `next` is the null entry that ends the list.
      if (--depth_ == 0) return;
      Dwarf_Die after;
      auto* address = static_cast<unsigned char*>(next.addr) + 1;
      if (dwarf_die_addr_die(dwarf_cu_getdwarf(die_.cu), address, &after) == nullptr ||
          after.cu != die_.cu) {
        break;
      }
      if (dwarf_tag(&after) != DW_TAG_invalid) {
        next = after;
        state = 0;
      } else if (*address == 0) {
        next.addr = address;
      } else {
        break;
      }
    }
    if (state != 0) {
      depth_ = 0;
      return;
    }
    die_ = next;
    read_tag();
  }

 private:
  static constexpr std::size_t kDeepest = 512;

  void read_tag() {
    tag_ = dwarf_tag(&die_);
    if (tag_ == DW_TAG_invalid) depth_ = 0;  // damaged
  }

  Dwarf_Die die_{};
  int tag_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace plumb
