// What is known of each thread: its stack, the words on it that are slots, and
// how it is about to leave frames other than by returning.
#pragma once

#include "valgrind/stacks.h"
#include "valgrind/vector.h"
#include "valgrind/vg.h"

namespace plumb::vg {

// What the instrumentation knows of a piece of straight code.
struct Piece {
  Addr first;
  Addr last;           // address of its last instruction
  Addr end;            // behind it
  UShort reads;        // registers that are read before they are written
  UShort writes;       // registers that are written
  bool reads_vectors;  // some vector register is
  bool ends_in_call;
  bool ends_in_return;
  bool ends_in_jump;   // to a fixed place
  bool is_entry;       // of a function that has a name, or of a stub that leads to one
  UShort read_at[16];  // for each register, the end of its last such read
  UShort copied[16];   // for each register, those that its first value is copied to
};

// Ways to leave frames other than by returning.
enum Leave : UInt { kNoLeave = 0, kException = 1, kJump = 2 };

struct Thread {
  Vector<Addr> stack_words;  // slots on the stack, lowest last
  Addr stack_low;
  Addr stack_high;  // highest byte; 0: not known yet
  // While blocks are in registers only:
  const Piece* before;  // the piece that ran last, if it was followed
  ULong followed_since;
  Vector<Addr> entries;  // stack pointer at the entry of each function
  Addr dead_value[16];   // left in a register by a function that returned
  Vector<Addr> tails;    // stack pointers at which one function jumped into another
  Addr freeing[16];      // registers when the program last called free or realloc
  // Unwinding: the stack when it began, and where.
  Leave leaving;
  RawStack* left;
  // A thread's function has returned; what goes now goes with the thread.
  Addr end_marker;
  Addr top_sp;  // the stack pointer when main, or the thread's function, returns
  StackId end_stack;
};

void prepare_threads();
Thread& thread_state(ThreadId id);

// The thread whose stack has this address, or 0.
ThreadId stack_owner(Addr address, ThreadId running);
void note_stack(ThreadId id);

// For the inlined test at returns: the lowest slot on the running thread's
// stack.
extern Addr lowest_word;
void set_lowest(ThreadId running);
void list_stack_word(ThreadId owner, Addr address);

}  // namespace plumb::vg
