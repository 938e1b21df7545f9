// CASE: Standard containers of all shapes, alive when main ends: locals and globals.
// EXPECT: none
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "case.h"

std::unordered_map<std::string, std::vector<int>> g_index;
std::map<int, std::string> g_names;

static void fill() {
  std::deque<std::string> queue;
  std::list<long> numbers;
  std::set<std::string> words;
  for (int i = 0; i < 200; i++) {
    std::string text = "a text that is too long for the small buffer " + std::to_string(i);
    queue.push_back(text);
    numbers.push_back(i);
    words.insert(text);
    g_index[text].push_back(i);
    g_names[i] = text;
  }
  touch(queue.front().data());
}

int main() { fill(); }
