// Which of many fixed strings occur in a text, in one pass over it, however
// many there are (Aho and Corasick's automaton).
//
// A trie of the strings; each node knows the longest proper end of its own
// path that is a path in the trie, too, and the nearest such end that is a
// whole string. Most nodes have one edge, so edges are short lists; only the
// root, where almost every step starts, has a table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace plumb {

class LiteralSearch {
 public:
  // The strings are numbered as given. Empty ones are never found.
  explicit LiteralSearch(const std::vector<std::string_view>& literals);

  // Calls `found` with the number of each string at each place where it ends.
  template <typename Found>
  void scan(std::string_view text, Found found) const {
    std::uint32_t node = 0;
    for (const char c : text) {
      node = step(node, static_cast<unsigned char>(c));
      for (std::uint32_t at = node; at != 0; at = nodes_[at].next_whole) {
        for (const std::uint32_t literal : nodes_[at].literals) found(literal);
      }
    }
  }

 private:
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> edges;
    std::vector<std::uint32_t> literals;  // equal strings may be given twice
    std::uint32_t shorter = 0;            // the longest end that is in the trie
    std::uint32_t next_whole = 0;         // the nearest end that is a string; 0: none
  };

  std::uint32_t child(std::uint32_t node, unsigned char c) const;
  std::uint32_t step(std::uint32_t node, unsigned char c) const;
  void link();

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> root_{};
};

}  // namespace plumb
