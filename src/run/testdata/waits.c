// Makes the file that argument 1 names, then waits for a signal to end it.
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 2) return 2;
  FILE *file = fopen(arguments[1], "w");
  if (file == NULL || fclose(file) != 0) return 3;
  alarm(300);  // whoever should have sent it did not
  for (;;) pause();
}
