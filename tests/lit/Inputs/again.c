// Loses a block: always ("lose"), never ("keep"), if there is input ("read"), or
// only the first time ("chance FILE").
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char* g_text;

static void replace(char* text, int lose) {
  g_text[0] = 'r';
  if (!lose) free(g_text);
  g_text = text;
}

static int wants_loss(const char* how, const char* file) {
  if (strcmp(how, "lose") == 0) return 1;
  if (strcmp(how, "read") == 0) {
    char byte = 0;
    while (read(0, &byte, 1) == 1 && byte != '\n') {
    }
    return byte == '\n';
  }
  if (strcmp(how, "chance") == 0) {
    if (access(file, F_OK) == 0) return 0;
    fclose(fopen(file, "w"));
    return 1;
  }
  return 0;
}

int main(int count, char** words) {
  puts("output");
  const int lose = wants_loss(words[1], count > 2 ? words[2] : "");
  g_text = malloc(33);
  replace(malloc(44), lose);
  free(g_text);
  return 5;
}
