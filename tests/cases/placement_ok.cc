// CASE: An object made by placement new is destroyed before its memory is freed.
// EXPECT: none
#include <new>
#include <string>

#include "case.h"

static void place() {
  void* memory = malloc(sizeof(std::string));
  auto* text = new (memory) std::string(100, 'p');
  touch(text->data());
  text->~basic_string();
  free(memory);
}

int main() { place(); }
