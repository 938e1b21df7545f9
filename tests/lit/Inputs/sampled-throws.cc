// Exceptions out of loops and through functions, with destructors on the way.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static long alive = 0;
struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  std::uint64_t value = 1;
};

[[gnu::noinline]] static void maybe_throw(const std::vector<std::uint64_t>& numbers,
                                          std::size_t at) {
  if (numbers[at] % 97 == 13) throw std::runtime_error("thirteen");
}

[[gnu::noinline]] static std::uint64_t walk(std::vector<std::uint64_t>& numbers) {
  Counted local;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto held = std::make_unique<Counted>();
    maybe_throw(numbers, i);
    sum += numbers[i] * held->value;
    numbers[i] += sum;
  }
  return sum + local.value;
}

int main() {
  std::uint64_t total = 0;
  unsigned caught = 0;
  for (unsigned round = 0; round < 400; ++round) {
    std::vector<std::uint64_t> numbers(round % 50 + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * round * 31 + round;
    try {
      total += walk(numbers);
    } catch (const std::runtime_error& problem) {
      caught += std::string(problem.what()).size() == 8;
    }
  }
  std::printf("%llu %u %ld\n", static_cast<unsigned long long>(total), caught, alive);
  return 0;
}
