// CASE: lighttpd's request parser: a header that is there twice is refused, and kept by nobody.
// EXPECT: lost 1 block 24 bytes, indirect 2 blocks 29 bytes
// CAUSE: scope-end
// GAP(run, -O2, gcc): cause - the register is set anew by code that the compiler moved
#include "case.h"

struct Header {
  char* key;
  char* value;
  struct Header* next;
};

struct Request {
  struct Header* headers;
  struct Header* unused;
  int length_set;
  int status;
};

static struct Header* unused_element(struct Request* request) {
  struct Header* header = request->unused;
  if (header) request->unused = header->next;
  return header;
}

static int parse_header(struct Request* request, const char* key, const char* value) {
  struct Header* ds = unused_element(request);
  if (ds == 0) ds = malloc(sizeof *ds);  // ALLOC
  ds->key = strdup(key);      // ALLOC
  ds->value = strdup(value);  // ALLOC
  if (strcmp(ds->key, "Content-Length") == 0) {
    if (request->length_set) {
      request->status = 400;  // LOSS ds
      return -1;              // LOSS ds
    }
    request->length_set = 1;
  }
  ds->next = request->headers;
  request->headers = ds;
  return 0;
}  // LOSS ds

static void free_headers(struct Request* request) {
  while (request->headers) {
    struct Header* header = request->headers;
    request->headers = header->next;
    free(header->key);
    free(header->value);
    free(header);
  }
}

int main(void) {
  struct Request request = {0};
  parse_header(&request, "Host", "example");
  parse_header(&request, "Content-Length", "1234567890123");
  parse_header(&request, "Content-Length", "1234567890123");
  free_headers(&request);
  return 0;
}
