// What the library inside the program and the Valgrind tool around it say to
// each other: client requests of the tool "plumb". The library names the
// allocations and owns all tables; the tool keeps the watched blocks, follows
// the references to them, and answers questions at the end.
//
// Includes nothing but the records, so that both sides can: the tool has no libc.
#pragma once

#include "trace/record.h"

namespace plumb::watch {

using Word = unsigned long;

inline constexpr Word kVersion = 9;

// Valgrind's VG_USERREQ_TOOL_BASE('P', 'B').
inline constexpr Word kBase = (Word{'P'} << 24) | (Word{'B'} << 16);

enum Request : Word {
  kStart = kBase,  // (Start*) -> kVersion
  kAllocate,       // (size, alignment, only its uses matter) -> address, 0: no room
  kArrives,        // (address) of a watched block that was worked on since
  kFree,           // (address) of a watched block
  kSize,           // (address) of a watched block -> its size
  kPartBegins,     // (address, size): an allocator of the program's own handed it out
  kPartEnds,       // (address)
  kStored,         // (address): the library wrote a word for the program
  kRangeDies,      // (begin, size): memory with references in it is given back
  kThreadBegins,   // (where its function's return address will be, is it main)
  kCount,          // (End*, Count*): how many watched blocks are lost now
  kEnd,            // (End*) -> blocks that are still there
  kInfo,           // (address, Info*) -> 1 when it is a watched block
};

// Requests of programs that are annotated for memcheck, as valgrind.h numbers them: their
// words are (request, pool or address, ...). The tool passes them on, see Start::forward.
enum MemcheckRequest : Word {
  kMallocLike = 0x1301,  // (address, size, ...)
  kFreeLike,             // (address, ...)
  kCreatePool,           // (pool, red zone, is zeroed, flags)
  kDestroyPool,          // (pool)
  kPoolAlloc,            // (pool, address, size)
  kPoolFree,             // (pool, address)
  kPoolTrim,             // (pool, begin, size): what lies outside goes
  kMovePool,             // (from, to)
  kPoolChange,           // (pool, from, to, size): realloc
};

// Watched blocks have addresses of their own: nothing else of the program is
// mapped here. The upper half is rare as a number. Below those to which the references
// are followed lie those of which only the last use is asked for.
inline constexpr Word kFollowedTop = 0xd;
inline constexpr Word kArenaBegin = (kFollowedTop - 1) << 32;
inline constexpr Word kFollowedBegin = kFollowedTop << 32;
inline constexpr Word kArenaEnd = (kFollowedTop + 1) << 32;
static_assert(kFollowedTop % 2 == 1);  // one comparison tells both

inline bool in_arena(Word address) { return (address >> 33) == kFollowedTop / 2; }
inline bool is_followed(Word address) { return (address >> 32) == kFollowedTop; }

struct Start {
  Word own_begin;  // code of the library: its frames are nobody's
  Word own_end;
  Word all;                 // every allocation will be watched, not a few
  const Word* ranges;       // the library's own memory: pairs [begin, end)
  const Word* range_count;  // how many there are now
  // As in a PlumbWantHeader's list.
  const Word* scopes;
  Word scope_count;  // words
  const PlumbWantModule* modules;
  Word module_count;
  const char* strings;
  // Code of the library that a thread calls when it made a MemcheckRequest: rax as it was,
  // kRedZone bytes and the return address below the stack pointer. 0: nobody wants to know.
  Word forward;
};
inline constexpr Word kRedZone = 128;

struct End {
  Word stack_pointer;     // of the ending thread: live above it
  const Word* registers;  // its saved registers
  Word register_count;
  const Word* no_roots;  // pairs [begin, end): the library's own memory
  Word no_root_count;    // pairs
};

struct Count {
  Word then;  // not 0: those that were counted are not, the next time
  Word blocks;
  Word bytes;
};

inline constexpr unsigned kMaxFrames = 48;

struct Frames {
  unsigned count;
  unsigned reserved;
  Word addresses[kMaxFrames];  // return addresses, as in a PlumbStack
};

// The numbers of record.h's PlumbBlockState, PlumbCause, and PLUMB_WATCHED_...
struct Info {
  unsigned state;
  unsigned cause;
  Word leader;  // address of the block that held it, when indirect
  unsigned flags;
  unsigned short is_part;  // asked about: one of those
  unsigned short leader_is_part;
  PlumbPlace place;
  Frames allocation;
  Frames loss;
  Frames use;
  Frames trail;
};

}  // namespace plumb::watch
