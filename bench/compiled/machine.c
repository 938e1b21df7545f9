/* A little stack machine on boxed numbers: an interpreter's inner loop. */
#include <stdio.h>
#include <stdlib.h>

struct box {
  long value;
  int references;
};
struct machine {
  struct box** stack;
  int top;
  const unsigned char* code;
};

static struct box* box(long value) {
  struct box* made = malloc(sizeof *made);
  made->value = value;
  made->references = 1;
  return made;
}
static void drop(struct box* box) {
  if (--box->references == 0) free(box);
}

static long run(struct machine* machine, long rounds) {
  struct box* counter = box(0);
  struct box* sum = box(0);
  while (1) {
    switch (*machine->code++) {
      case 'c':
        counter->references++;
        machine->stack[machine->top++] = counter;
        break;
      case 's':
        sum->references++;
        machine->stack[machine->top++] = sum;
        break;
      case '+': {
        struct box* right = machine->stack[--machine->top];
        struct box* left = machine->stack[--machine->top];
        machine->stack[machine->top++] = box(left->value + right->value);
        drop(left);
        drop(right);
        break;
      }
      case 'S':
        drop(sum);
        sum = machine->stack[--machine->top];
        break;
      case 'i': {
        struct box* next = box(counter->value + 1);
        drop(counter);
        counter = next;
        break;
      }
      case 'l':
        if (counter->value < rounds) machine->code -= 6;
        break;
      default: {
        long result = sum->value;
        drop(sum);
        drop(counter);
        return result;
      }
    }
  }
}

int main(int count, char** arguments) {
  const long times = count > 1 ? atol(arguments[1]) : 1;
  struct machine machine = {malloc(64 * sizeof(struct box*)), 0, (const unsigned char*)"sc+Sil."};
  printf("%ld\n", run(&machine, times * 16000000));
  free(machine.stack);
  return 0;
}
