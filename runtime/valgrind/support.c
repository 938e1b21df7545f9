/* What the compilers expect to find in any program and Valgrind's core does not
 * bring. A C file: C++ compilers do not let these be defined. */
int memcmp(const void* left, const void* right, unsigned long size);
unsigned long strlen(const char* text);

int memcmp(const void* left, const void* right, unsigned long size) {
  const unsigned char* a = left;
  const unsigned char* b = right;
  for (unsigned long i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

unsigned long strlen(const char* text) {
  unsigned long size = 0;
  while (text[size] != 0) ++size;
  return size;
}

/* Valgrind's reader of line numbers gives up the whole run when it meets debug
 * information newer than itself (clang's DWARF 5). We need none: addresses are
 * named outside, by our own reader. Ours comes first at the link. */
void vgModuleLocal_read_debuginfo_dwarf3(void);
void vgModuleLocal_read_debuginfo_dwarf3(void) {}
void vgModuleLocal_new_dwarf3_reader(void);
void vgModuleLocal_new_dwarf3_reader(void) {}
