// Runs a function for each index, on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace plumb {

template <typename Work>
void in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads && i < count; ++i) others.emplace_back(take);
  take();
  for (std::thread& thread : others) thread.join();
}

}  // namespace plumb
