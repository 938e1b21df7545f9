// CASE: Static objects, a local one and a singleton, free what they own at exit.
// EXPECT: none
#include <memory>
#include <string>
#include <vector>

#include "case.h"

std::vector<std::unique_ptr<std::string>> g_texts;

static std::string& singleton() {
  static std::string text(300, 's');
  return text;
}

int main() {
  g_texts.push_back(std::make_unique<std::string>(200, 't'));
  touch(singleton().data());
}
