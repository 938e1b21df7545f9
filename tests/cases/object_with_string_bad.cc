// CASE: An object is lost with the containers inside it.
// EXPECT: lost 1 block 56 bytes, indirect 2 blocks 164 bytes
// CAUSE: scope-end
#include <string>
#include <vector>

#include "case.h"

struct Page {
  std::string title;
  std::vector<int> words;
};

static void print() {
  Page* page = new Page;        // ALLOC
  page->title.assign(99, 'x');  // ALLOC
  page->words.resize(16);       // ALLOC
  touch(page->title.data());    // USE
}  // LOSS page

int main() { print(); }
