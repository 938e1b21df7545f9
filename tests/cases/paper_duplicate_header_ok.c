// CASE: lighttpd's request parser, as it was mended: the header is kept for the next one.
// EXPECT: none
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
  if (ds == 0) ds = malloc(sizeof *ds);
  ds->key = strdup(key);
  ds->value = strdup(value);
  if (strcmp(ds->key, "Content-Length") == 0) {
    if (request->length_set) {
      request->status = 400;
      ds->next = request->headers;
      request->headers = ds;
      return -1;
    }
    request->length_set = 1;
  }
  ds->next = request->headers;
  request->headers = ds;
  return 0;
}

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
