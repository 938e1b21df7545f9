// CASE: An object is deleted with the containers inside it.
// EXPECT: none
#include <string>
#include <vector>

#include "case.h"

struct Page {
  std::string title;
  std::vector<int> words;
};

static void print() {
  Page* page = new Page;
  page->title.assign(99, 'x');
  page->words.resize(16);
  touch(page->title.data());
  delete page;
}

int main() { print(); }
