#include "base/literal_search.h"

#include <cstddef>

namespace plumb {

LiteralSearch::LiteralSearch(const std::vector<std::string_view>& literals) : nodes_(1) {
  for (std::size_t i = 0; i < literals.size(); ++i) {
    if (literals[i].empty()) continue;
    std::uint32_t node = 0;
    for (const char letter : literals[i]) {
      const auto c = static_cast<unsigned char>(letter);
      std::uint32_t next = child(node, c);
      if (next == 0) {
        next = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
        nodes_[node].edges.emplace_back(c, next);
        if (node == 0) root_[c] = next;
      }
      node = next;
    }
    nodes_[node].literals.push_back(static_cast<std::uint32_t>(i));
  }
  link();
}

std::uint32_t LiteralSearch::child(std::uint32_t node, unsigned char c) const {
  if (node == 0) return root_[c];
  for (const auto& [letter, next] : nodes_[node].edges) {
    if (letter == c) return next;
  }
  return 0;
}

std::uint32_t LiteralSearch::step(std::uint32_t node, unsigned char c) const {
  while (true) {
    const std::uint32_t next = child(node, c);
    if (next != 0 || node == 0) return next;
    node = nodes_[node].shorter;
  }
}

// Breadth first: the ends of a path are shorter than it, so they are linked.
void LiteralSearch::link() {
  std::vector<std::uint32_t> queue = {0};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t node = queue[at];
    for (const auto& [c, next] : nodes_[node].edges) {
      const std::uint32_t shorter = node == 0 ? 0 : step(nodes_[node].shorter, c);
      nodes_[next].shorter = shorter;
      nodes_[next].next_whole =
          nodes_[shorter].literals.empty() ? nodes_[shorter].next_whole : shorter;
      queue.push_back(next);
    }
  }
}

}  // namespace plumb
