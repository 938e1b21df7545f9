// Two heap models side by side: the paper's address tree over all blocks, and ours,
// which knows the sampled blocks only and finds one by the window of the arena that it
// is alone in (runtime/watch/model.h). What is asked of both: find the descriptor of a
// block by any address in it, and note an access there; put blocks in and take them
// out; go through all of them (a snapshot).
//
// heap_model BLOCKS SAMPLES: nanoseconds for each, bytes per block.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Descriptor {
  std::uint64_t birth, last;
  std::uint32_t site, access;
};

// A node per address bit; one whose addresses are all of the same block points to it.
class AddressTree {
 public:
  static constexpr int kBits = 36;

  AddressTree() { nodes_.push_back({}); }
  void allocate(std::uint64_t begin, std::uint64_t size, std::uint32_t block) {
    set(0, kBits, begin, begin + size, 0, block);
  }
  void release(std::uint64_t begin, std::uint64_t size) {
    set(0, kBits, begin, begin + size, 0, 0);
  }
  std::uint32_t find(std::uint64_t address) const {
    std::uint32_t at = 0;
    for (int bit = kBits - 1; bit >= 0; --bit) {
      const std::uint32_t next = nodes_[at].child[(address >> bit) & 1];
      if (next == 0) return 0;
      if ((next & kLeaf) != 0) return next & ~kLeaf;
      at = next;
    }
    return 0;
  }
  std::size_t bytes() const { return nodes_.size() * sizeof(Node); }

 private:
  static constexpr std::uint32_t kLeaf = 0x80000000u;
  struct Node {
    std::uint32_t child[2];
  };

  // The addresses of node `at` begin at `base`, 2^bits of them.
  void set(std::uint32_t at, int bits, std::uint64_t begin, std::uint64_t end, std::uint64_t base,
           std::uint32_t block) {
    for (int side = 0; side < 2; ++side) {
      const std::uint64_t half = std::uint64_t{1} << (bits - 1);
      const std::uint64_t from = base + static_cast<std::uint64_t>(side) * half;
      if (end <= from || begin >= from + half) continue;
      if (begin <= from && from + half <= end) {
        drop(nodes_[at].child[side]);
        nodes_[at].child[side] = block == 0 ? 0 : block | kLeaf;
        continue;
      }
      if (nodes_[at].child[side] == 0 || (nodes_[at].child[side] & kLeaf) != 0) {
        const std::uint32_t fresh = new_node();
        nodes_[at].child[side] = fresh;
      }
      set(nodes_[at].child[side], bits - 1, begin, end, from, block);
    }
  }
  std::uint32_t new_node() {
    if (!unused_.empty()) {
      const std::uint32_t node = unused_.back();
      unused_.pop_back();
      nodes_[node] = {};
      return node;
    }
    nodes_.push_back({});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void drop(std::uint32_t node) {
    if (node == 0 || (node & kLeaf) != 0) return;
    for (const std::uint32_t child : nodes_[node].child) drop(child);
    unused_.push_back(node);
  }
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> unused_;
};

// One block per window of 64 kB; a window knows its block.
class Windows {
 public:
  explicit Windows(std::size_t most) : block_of_(most + 1) {}
  void allocate(std::uint64_t begin, std::uint32_t block) { block_of_[begin >> 16] = block; }
  void release(std::uint64_t begin) { block_of_[begin >> 16] = 0; }
  std::uint32_t find(std::uint64_t address) const {
    const std::uint64_t window = address >> 16;
    return window < block_of_.size() ? block_of_[window] : 0;
  }
  std::size_t bytes() const { return block_of_.size() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> block_of_;
};

struct Block {
  std::uint64_t begin, size;
};

std::uint64_t dice = 88172645463325252u;
std::uint64_t draw() {
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return dice;
}

template <typename Action>
double nanoseconds(std::size_t times, Action action) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < times; ++i) action(i);
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / static_cast<double>(times);
}

template <typename Find, typename Change>
void measure(const char* name, const std::vector<Block>& blocks, std::size_t bytes, Find find,
             Change change) {
  std::vector<Descriptor> descriptors(blocks.size() + 1);
  std::vector<std::uint64_t> anywhere(1 << 20);
  std::vector<std::uint64_t> hot(1 << 20);
  for (std::size_t i = 0; i < anywhere.size(); ++i) {
    const Block& one = blocks[draw() % blocks.size()];
    anywhere[i] = one.begin + draw() % one.size;
    const Block& other = blocks[draw() % 1000];
    hot[i] = other.begin + draw() % other.size;
  }
  std::uint64_t time = 0;
  std::uint64_t missed = 0;
  const auto access = [&](std::uint64_t address) {
    const std::uint32_t index = find(address);
    missed += index == 0 ? 1 : 0;
    descriptors[index].last = ++time;
  };
  const double random = nanoseconds(anywhere.size(), [&](std::size_t i) { access(anywhere[i]); });
  const double often = nanoseconds(hot.size(), [&](std::size_t i) { access(hot[i]); });
  const double pair = nanoseconds(200000, [&](std::size_t) { change(draw() % blocks.size()); });
  std::uint64_t stale = 0;
  const double snapshot = nanoseconds(1, [&](std::size_t) {
    for (const Descriptor& one : descriptors) stale += one.last < time / 2 ? 1 : 0;
  });
  std::printf("%s,%zu,%.1f,%.1f,%.1f,%.3f,%.1f\n", name, blocks.size(), random, often, pair,
              snapshot / 1e6, static_cast<double>(bytes) / static_cast<double>(blocks.size()));
  if (missed != 0 || stale > descriptors.size()) std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t all = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 1000000;
  const std::size_t sampled = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 4096;
  AddressTree tree;
  std::vector<Block> blocks;
  std::uint64_t at = 1 << 20;
  for (std::size_t i = 0; i < all; ++i) {
    const std::uint64_t size = 16 + draw() % 6 * 16 + draw() % 16;
    blocks.push_back({at, size});
    at += (size + 15) / 16 * 16 + 16;
  }
  for (std::size_t i = 0; i < all; ++i) {
    tree.allocate(blocks[i].begin, blocks[i].size, static_cast<std::uint32_t>(i + 1));
  }
  measure(
      "address tree (all blocks)", blocks, tree.bytes(),
      [&](std::uint64_t address) { return tree.find(address); },
      [&](std::size_t i) {
        tree.release(blocks[i].begin, blocks[i].size);
        tree.allocate(blocks[i].begin, blocks[i].size, static_cast<std::uint32_t>(i + 1));
      });

  Windows windows(sampled + 16);
  std::vector<Block> samples;
  for (std::size_t i = 0; i < sampled; ++i) {
    samples.push_back({(i + 1) << 16, 16 + draw() % 96});
    windows.allocate(samples[i].begin, static_cast<std::uint32_t>(i + 1));
  }
  measure(
      "windows (sampled blocks)", samples, windows.bytes(),
      [&](std::uint64_t address) { return windows.find(address); },
      [&](std::size_t i) {
        windows.release(samples[i].begin);
        windows.allocate(samples[i].begin, static_cast<std::uint32_t>(i + 1));
      });
  return 0;
}
