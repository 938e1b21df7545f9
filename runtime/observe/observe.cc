// Notes the command line of each compiler that a build starts.
//
// Preloaded into every process of the build, it does nothing but look at its
// own name at start. A compiler's directory and words go to the file of
// PLUMB_OBSERVE in one write, so that records of parallel compilers do not mix:
// DIRECTORY \0 WORD \0 ... \0 \0. An empty word is written as a newline, since
// two zeros end the record.
//
// Limits: statically linked compilers are not seen; a command longer than
// kMost bytes is not noted.

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr size_t kMost = 4 << 20;
constexpr size_t kDirectory = 4096;

// The last part of the name without version and target: "gcc" of
// "x86_64-linux-gnu-gcc-12". The reader judges again, this only keeps the
// file small.
bool may_be_compiler(const char* name) {
  const char* slash = strrchr(name, '/');
  const char* base = slash ? slash + 1 : name;
  return strstr(base, "cc") || strstr(base, "++") || strstr(base, "clang") || strstr(base, "c99") ||
         strstr(base, "c89");
}

struct Buffer {
  char* bytes;
  size_t used;
  bool add(const char* text) {
    const size_t size = strlen(text) + 1;
    if (used + size + 1 > kMost) return false;
    memcpy(bytes + used, text, size);
    used += size;
    return true;
  }
};

__attribute__((constructor)) void note(int count, char** words, char**) {
  if (count < 2 || !words || !words[0] || !may_be_compiler(words[0])) return;
  const char* path = getenv("PLUMB_OBSERVE");
  if (!path) return;
  // Not from the program's own allocator: it may not be ready yet.
  void* memory = mmap(nullptr, kMost, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  Buffer buffer{static_cast<char*>(memory), 0};
  char directory[kDirectory];
  bool whole = getcwd(directory, sizeof directory) && buffer.add(directory);
  for (int i = 0; whole && i < count; ++i) whole = buffer.add(words[i][0] ? words[i] : "\n");
  if (whole) {
    buffer.bytes[buffer.used++] = 0;
    const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0) {
      const ssize_t written = write(file, buffer.bytes, buffer.used);
      (void)written;  // a full disk costs us this record, never the build
      close(file);
    }
  }
  munmap(memory, kMost);
}

}  // namespace
