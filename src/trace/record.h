/* The raw trace: what a runtime leaves behind for the reader.
 *
 * One file (often a memory file that the runtime has mapped shared, so that it
 * survives even SIGKILL): a header, then sections of equal-sized items. While the
 * program runs, `plumb run` counts in SITES what each place allocated and freed; the
 * scan at the end lists the blocks that are left in BLOCKS, with their verdicts.
 * Without a scan that came to its end, SITES say how much was never freed. There is
 * no other output.
 *
 * Invariants: item 0 of BLOCKS is never used; an entry is valid when its state
 * is not PLUMB_BLOCK_FREE, and the state is written last. Offsets and counts
 * are in the header only; a reader trusts none of them.
 * Limit: byte order and sizes are those of x86-64.
 *
 * C11, includes nothing of ours: runtimes and the command share it.
 */
#ifndef PLUMB_TRACE_RECORD_H
#define PLUMB_TRACE_RECORD_H

#include <stdint.h>

#define PLUMB_TRACE_MAGIC "PLUMBTRC"
#define PLUMB_TRACE_VERSION 5u

/* Set by the command for the runtime: "fd=N:depth=N:quick=0|1:scrub=0|1", and for a run
 * under the Valgrind tool ":watch=FD" (a PlumbWantHeader and what follows it),
 * ":bind=1" when LD_BIND_NOW is the command's own. ":mask=N": a word with only
 * these bits may be a reference, too. ":ask=1": the command may ask in the middle.
 * ":fn=aN@HEX" (an allocator's function in the executable, whose N-th argument is the
 * size), ":fn=fN@HEX" (one that frees its N-th argument), or with "=NAME" instead of
 * "@HEX" for one that a library exports.
 * ":dir=PATH" instead of fd: each process makes a trace of its own there, and
 * leaves the variable to those that it starts. */
#define PLUMB_RUNTIME_VARIABLE "PLUMB_RUNTIME"

enum PlumbSectionKind {
  PLUMB_SECTION_THREADS = 0, /* PlumbThread */
  PLUMB_SECTION_MODULES = 1, /* PlumbModule */
  PLUMB_SECTION_STRINGS = 2, /* bytes */
  PLUMB_SECTION_STACKS = 3,  /* 64-bit words: PlumbStack and its addresses */
  PLUMB_SECTION_BLOCKS = 4,  /* PlumbBlock */
  PLUMB_SECTION_WATCHED = 5, /* PlumbWatched */
  PLUMB_SECTION_LOSSES = 6,  /* PlumbLoss */
  PLUMB_SECTION_FRAMES = 7,  /* PlumbNamedFrame */
  PLUMB_SECTION_LOST = 8,    /* PlumbLostBlock */
  PLUMB_SECTION_FREES = 9,   /* PlumbSiblingFree */
  PLUMB_SECTION_SITES = 10,  /* PlumbBlockSite */
  PLUMB_SECTION_COUNT = 11
};

/* Which runtime wrote it. */
enum PlumbEngine { PLUMB_ENGINE_RUN = 0, PLUMB_ENGINE_CC = 1 };

/* How far the runtime got. */
enum PlumbPhase {
  PLUMB_PHASE_NONE = 0,     /* the runtime never started */
  PLUMB_PHASE_RUNNING = 1,  /* the program ended without letting us know */
  PLUMB_PHASE_SCANNING = 2, /* it ended while we looked */
  PLUMB_PHASE_DONE = 3,     /* every entry has its verdict */
  PLUMB_PHASE_REFUSED = 4,  /* did not start the program; see problem */
  PLUMB_PHASE_GAVE_UP = 5   /* stopped tracking, the program went on; see problem */
};

/* What made the program end. */
enum PlumbEnd {
  PLUMB_END_UNKNOWN = 0,
  PLUMB_END_EXIT = 1,       /* exit, or return from main */
  PLUMB_END_QUICK_EXIT = 2, /* quick_exit */
  PLUMB_END_NOW = 3,        /* _exit, _Exit */
  PLUMB_END_SIGNAL = 4,     /* end_detail is its number */
  PLUMB_END_EXEC = 5        /* replaced by another program */
};

enum PlumbProblem {
  PLUMB_PROBLEM_NONE = 0,
  PLUMB_PROBLEM_OTHER_MALLOC = 1,  /* malloc is not glibc's; name in problem_text */
  PLUMB_PROBLEM_OUT_OF_MEMORY = 2, /* no room for our tables */
  PLUMB_PROBLEM_TABLE_FULL = 3,    /* more live blocks than entries */
  PLUMB_PROBLEM_SCAN_FAULT = 4,    /* our scan touched memory it should not have */
  PLUMB_PROBLEM_NO_MAPS = 5,       /* the process's memory map cannot be read */
  PLUMB_PROBLEM_NO_TOOL = 6,       /* was to watch, but not under our Valgrind tool */
  PLUMB_PROBLEM_SANDBOX = 7        /* the program forbade itself (and us) system calls */
};

/* Bits of PlumbTraceHeader.limits: what the verdicts could not take into account. */
enum PlumbLimit {
  PLUMB_LIMIT_STACKS_FULL = 1,    /* later allocation stacks are unknown */
  PLUMB_LIMIT_MODULES_FULL = 2,   /* later modules are unknown */
  PLUMB_LIMIT_NESTED = 4,         /* allocations from a signal handler inside malloc */
  PLUMB_LIMIT_THREAD_CAP = 8,     /* a thread went on running during the scan */
  PLUMB_LIMIT_MAIN_ARENA = 16,    /* glibc's own bookkeeping was not recognised */
  PLUMB_LIMIT_SHORT_STACKS = 32,  /* deep recursion: some stacks have few frames */
  PLUMB_LIMIT_CUSTOM_FULL = 64,   /* later blocks of PLUMB_ALLOC are unknown */
  PLUMB_LIMIT_NOT_DIVERTED = 128, /* a function that "fn=" named is not followed */
  PLUMB_LIMIT_SITES = 256         /* only the sites of a report were tracked */
};

typedef struct PlumbSection {
  uint64_t offset;   /* from the start of the file */
  uint64_t capacity; /* items */
  uint64_t used;     /* items; may exceed capacity when the section overflowed */
  uint32_t item_size;
  uint32_t reserved;
} PlumbSection;

typedef struct PlumbTraceHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_size;
  uint32_t pid;
  uint32_t phase;
  uint32_t end;
  uint32_t end_detail;
  uint32_t problem;
  uint32_t limits;
  uint32_t stack_depth;
  uint32_t threads_started;
  uint32_t threads_stopped;    /* at the scan, the scanning one not counted */
  uint32_t threads_unanswered; /* asleep with every signal blocked: no registers */
  uint32_t stop_rounds;
  uint32_t engine;           /* PlumbEngine */
  uint64_t scan_nanoseconds; /* stop included */
  uint64_t stop_nanoseconds;
  uint64_t root_bytes;
  uint64_t scanned_bytes;
  char problem_text[256];
  char end_text[224]; /* PLUMB_END_EXEC: the program */
  char mode[16];      /* the engine's own word; empty: its only one */
  PlumbSection sections[PLUMB_SECTION_COUNT];
  /* A question in the middle: the command counts `asked` up and sends a signal;
   * the runtime says the same in `answered` while the world is stopped and every
   * block has its verdict, and goes on when the command says it in `released`. */
  uint32_t asked;
  uint32_t answered;
  uint32_t released;
  /* The other way round: the program wants its report now. A PlumbReportWish; the
   * world is stopped, and every block has its verdict, while it says `wanted`. */
  uint32_t report_wish;
  char command[256]; /* the words that the process was started with */
} PlumbTraceHeader;

typedef enum PlumbReportWish {
  PLUMB_REPORT_NOBODY = 0, /* nobody would read it */
  PLUMB_REPORT_READY = 1,  /* the command waits for the word to change (futex) */
  PLUMB_REPORT_WANTED = 2  /* until the command says something else */
} PlumbReportWish;

/* What a question is sent by: a signal that libc keeps to itself, with a value. */
#define PLUMB_ASK_SIGNAL 33
#define PLUMB_ASK_VALUE 0x706c61736bu

/* Sums of what the threads that used this slot, one after the other, did. */
typedef struct PlumbThread {
  uint64_t allocated_blocks;
  uint64_t allocated_bytes;
  uint64_t freed_blocks;
  uint64_t freed_bytes;
  uint64_t reserved[4]; /* one cache line each: no two threads share one */
} PlumbThread;

#define PLUMB_BUILD_ID_MAX 32u

/* A module that some stack refers to. Its place may be used again by another
 * one after dlclose: a stack belongs to the module that had the place at its
 * epoch. */
typedef struct PlumbModule {
  uint64_t start; /* of its mapping */
  uint64_t end;
  uint64_t bias; /* address minus bias is what the file says */
  uint32_t first_epoch;
  uint32_t end_epoch; /* first epoch without it; 0: never unloaded */
  uint32_t path;      /* in STRINGS */
  uint32_t path_size;
  uint32_t build_id_size;
  uint8_t build_id[PLUMB_BUILD_ID_MAX];
  uint32_t state; /* written last; 0: not there yet */
} PlumbModule;

/* Followed by `count` return addresses, innermost first. A stack's id is its
 * index in the section; 0 is "unknown". */
typedef struct PlumbStack {
  uint64_t hash;
  uint32_t next; /* id of the next stack with the same bucket */
  uint32_t count;
  uint32_t epoch;
  uint32_t reserved;
} PlumbStack;
#define PLUMB_STACK_WORDS 3u /* the header's size in words */

/* Which function the program called. */
enum PlumbApi {
  PLUMB_API_MALLOC = 0,
  PLUMB_API_CALLOC = 1,
  PLUMB_API_REALLOC = 2,
  PLUMB_API_REALLOCARRAY = 3,
  PLUMB_API_MEMALIGN = 4,
  PLUMB_API_POSIX_MEMALIGN = 5,
  PLUMB_API_ALIGNED_ALLOC = 6,
  PLUMB_API_VALLOC = 7,
  PLUMB_API_PVALLOC = 8,
  PLUMB_API_CUSTOM = 9, /* announced by PLUMB_ALLOC */
  PLUMB_API_COUNT = 10
};

enum PlumbBlockState {
  PLUMB_BLOCK_FREE = 0,
  PLUMB_BLOCK_LIVE = 1,      /* no verdict (yet) */
  PLUMB_BLOCK_REACHABLE = 2, /* a chain of references from a root reaches it */
  PLUMB_BLOCK_SEEN = 3,      /* the scan's own: unreachable, order known */
  PLUMB_BLOCK_DIRECT = 4,    /* lost, no other lost block refers to it */
  PLUMB_BLOCK_INDIRECT = 5   /* lost, held by `leader` */
};

/* PlumbBlock.flags */
#define PLUMB_BLOCK_USABLE 1u      /* the program asked for its usable size */
#define PLUMB_BLOCK_EXCLUDED 2u    /* ignored by annotation, or the parent's before a fork */
#define PLUMB_BLOCK_CUSTOM 4u      /* announced by PLUMB_ALLOC: part of other memory */
#define PLUMB_BLOCK_IGNORED 8u     /* kept on purpose: what it holds is, too */
#define PLUMB_BLOCK_TOLD 16u       /* the program asked, and counted it already */
#define PLUMB_BLOCK_BY_CALLER 128u /* its name has no size: there were too many names */

typedef struct PlumbBlock {
  uint64_t address;
  uint64_t size;
  uint32_t ordinal; /* n-th allocation with its name; 0: it has none */
  uint32_t facts;   /* the runtime's own */
  uint32_t stack;
  uint32_t thread; /* its name: 1 is the first one, others follow from who started them */
  uint32_t leader; /* INDIRECT: index of its DIRECT block */
  uint8_t api;
  uint8_t flags;
  uint8_t state;
  uint8_t reserved;
} PlumbBlock;

/* PlumbBlockSite.flags */
#define PLUMB_SITE_ANY_SIZE 1u  /* blocks of all sizes; `size` is the bytes of the live ones */
#define PLUMB_SITE_BY_CALLER 2u /* see PLUMB_BLOCK_BY_CALLER */
#define PLUMB_SITE_EXCLUDED 4u  /* the parent's before a fork */

/* Blocks of one size that one thread allocated with one stack. One cache line. */
typedef struct PlumbBlockSite {
  uint64_t size;
  uint64_t allocated;       /* blocks */
  uint64_t freed;           /* by the thread itself */
  uint64_t freed_elsewhere; /* by others */
  uint32_t stack;
  uint32_t thread; /* as in PlumbBlock */
  uint32_t owner;  /* the runtime's own: which thread may write `freed` */
  uint8_t api;
  uint8_t flags;
  uint8_t state; /* written last; 0: not there yet */
  uint8_t reserved;
  uint32_t ordinal; /* the runtime's own: of the last block with its name, if counted here */
  uint32_t reserved_words[3];
} PlumbBlockSite;

/* Why the last reference went. */
enum PlumbCause {
  PLUMB_CAUSE_NONE = 0,
  PLUMB_CAUSE_OVERWRITTEN = 1,
  PLUMB_CAUSE_SCOPE_END = 2,
  PLUMB_CAUSE_HOLDER_FREED = 3,
  PLUMB_CAUSE_HOLDER_LOST = 4,
  PLUMB_CAUSE_UNMAPPED = 5,
  PLUMB_CAUSE_THREAD_END = 6,
  PLUMB_CAUSE_DISCARDED = 7,
  PLUMB_CAUSE_ESCAPED_THROW = 8,
  PLUMB_CAUSE_COUNT = 9
};

/* PlumbWatched.flags */
#define PLUMB_WATCHED_RETURNED 1u   /* the innermost function had it as its result */
#define PLUMB_WATCHED_LAST_READ 2u  /* lost by not being read again after that instruction */
#define PLUMB_WATCHED_THROWN 4u     /* the trail ends because an exception left the frame */
#define PLUMB_WATCHED_NOT_STORED 8u /* it never was in memory, only in registers */

/* What the last reference was in. */
enum PlumbPlaceKind {
  PLUMB_PLACE_NONE = 0,
  PLUMB_PLACE_WORD = 1,      /* memory that is on no stack */
  PLUMB_PLACE_STACK = 2,     /* a word of a frame of the loss stack */
  PLUMB_PLACE_REGISTERS = 3, /* of the innermost frame */
  PLUMB_PLACE_COUNT = 4
};

/* Something in a frame of the loss stack that referred to memory at or closely
 * before the word: the word may be a member of what it points to. */
#define PLUMB_ALIAS_IN_MEMORY 255u
typedef struct PlumbAlias {
  uint8_t frame;
  uint8_t in_register; /* DWARF's number, or PLUMB_ALIAS_IN_MEMORY */
  uint16_t delta;      /* the word's address minus what this refers to */
  int32_t offset;      /* in memory: its address minus the frame's CFA */
} PlumbAlias;

/* Enough for a reader of debug information to say what the source calls it. */
#define PLUMB_MAX_ALIASES 24u
typedef struct PlumbPlace {
  uint64_t word;      /* its address */
  int64_t offset;     /* STACK: minus the frame's CFA; WORD: minus the thread pointer, if close */
  uint32_t kind;      /* PlumbPlaceKind */
  uint32_t frame;     /* STACK: of the loss stack */
  uint32_t registers; /* REGISTERS: DWARF's numbers, as bits */
  uint32_t alias_count;
  PlumbAlias aliases[PLUMB_MAX_ALIASES]; /* WORD, STACK of an outer frame */
} PlumbPlace;

/* What the Valgrind tool knows of a block that was watched. Stacks are ids in
 * STACKS, 0 when unknown. */
typedef struct PlumbWatched {
  uint32_t block; /* index in BLOCKS */
  uint32_t allocation_stack;
  uint32_t loss_stack;
  uint32_t use_stack;
  uint32_t cause; /* PlumbCause */
  uint32_t flags;
  /* LAST_READ: the code that the frame ran from that read on, as pairs of first
   * and last instruction; written as a stack, one past each address. */
  uint32_t trail_stack;
  uint32_t reserved;
  PlumbPlace place;
} PlumbWatched;

/* Which allocations to watch: a file of its own, for the runtime. The name of
 * an allocation is its thread, the place that called malloc, and the size; the
 * ordinal counts allocations of the same name. A second run of the same program
 * gives the same names wherever its modules are loaded.
 * The header, then `modules` PlumbWantModule, then `wants` PlumbWant in order of
 * all their members, then `scopes` 64-bit words, then the strings.
 * The words say where words of a frame are variables whose scope ends before the frame
 * does (those of inlined functions, and of blocks). For each stretch of code of a
 * function: module, begin, end, how many slots follow; for each slot: its distance from
 * the CFA (signed), its size, how many ranges follow; for each range in which it is in
 * scope: begin, end. Addresses are without the module's bias. */
#define PLUMB_WANT_MAGIC "PLUMBWNT"
#define PLUMB_WANT_ANY_SIZE UINT64_MAX /* the name has no size */

typedef struct PlumbWantHeader {
  char magic[8];
  uint32_t version; /* PLUMB_TRACE_VERSION */
  uint32_t all;     /* watch every allocation; there are no wants */
  uint32_t modules;
  uint32_t wants;
  uint64_t scopes;  /* words */
  uint64_t strings; /* bytes */
} PlumbWantHeader;

typedef struct PlumbWantModule {
  uint32_t path; /* in the strings */
  uint32_t path_size;
} PlumbWantModule;

typedef struct PlumbWant {
  uint32_t module;
  uint32_t thread;
  uint64_t caller; /* return address minus the module's bias */
  uint64_t size;
  uint64_t ordinal;
  uint64_t kept; /* was still reachable: only its last use is asked for */
} PlumbWant;
/* How a pointer was used. */
enum PlumbUse {
  PLUMB_USE_ACCESS = 0,
  PLUMB_USE_COPY = 1,
  PLUMB_USE_CALL = 2,
  PLUMB_USE_ARITHMETIC = 3,
  PLUMB_USE_COUNT = 4
};
/* What kind of memory the last reference was in. */
enum PlumbStorage {
  PLUMB_STORAGE_NONE = 0,
  PLUMB_STORAGE_LOCAL = 1,
  PLUMB_STORAGE_PARAMETER = 2,
  PLUMB_STORAGE_GLOBAL = 3,
  PLUMB_STORAGE_HEAP = 4,
  PLUMB_STORAGE_THREAD = 5,
  PLUMB_STORAGE_TEMPORARY = 6,
  PLUMB_STORAGE_COUNT = 7
};

typedef struct PlumbText { /* in STRINGS; size 0: unknown */
  uint32_t at;
  uint32_t size;
} PlumbText;

/* A place that the compiler wrote down, so that no symbols are needed. */
typedef struct PlumbNamedFrame {
  PlumbText function;
  PlumbText linkage;
  PlumbText file;
  uint32_t line;
  uint32_t column;
} PlumbNamedFrame;

/* Where last references went. The stack, where there is one, begins at the
 * place that the first frame names; otherwise the frames are all there is. */
typedef struct PlumbLoss {
  uint32_t cause;  /* PlumbCause */
  uint32_t stack;  /* or 0 */
  uint32_t frames; /* in FRAMES, innermost first */
  uint32_t frame_count;
  PlumbText holder;
  PlumbText type;
  uint32_t storage; /* PlumbStorage */
  uint32_t what;    /* PlumbUse, of a place that is a use */
} PlumbLoss;

/* Which DIRECT block was lost where, and where it was used last: both in LOSSES, 0
 * when not known. */
typedef struct PlumbLostBlock {
  uint32_t block;
  uint32_t loss;
  uint32_t use;
} PlumbLostBlock;

/* Where blocks were freed that were allocated with the same stack as lost ones. */
typedef struct PlumbSiblingFree {
  uint32_t allocation_stack;
  uint32_t stack;
  uint64_t blocks;
} PlumbSiblingFree;

#endif
