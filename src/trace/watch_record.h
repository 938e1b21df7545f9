/* The snapshot of a watched program: what the sampled runtime knows at one
 * moment, whole in one file (or one answer on its socket).
 *
 * A header, then sections of equal-sized items. Live samples are listed one by
 * one, so that the reader, not the runtime, decides what is stale; of freed ones
 * only the sums per site are left. Modules and stacks are in a trace of their
 * own (record.h) in the last section, without blocks.
 *
 * Times are nanoseconds of the process's CPU time. A sample stands for
 * 1 / (1 - exp(-(size + PLUMB_WATCH_PAD) / mean)) blocks; figures called
 * "scaled" are sums of such weights.
 * Limit: byte order and sizes are those of x86-64.
 *
 * C11; runtimes and the command share it.
 */
#ifndef PLUMB_TRACE_WATCH_RECORD_H
#define PLUMB_TRACE_WATCH_RECORD_H

#include <stdint.h>

#include "trace/record.h"

#define PLUMB_WATCH_MAGIC "PLUMBWCH"
#define PLUMB_WATCH_VERSION 2u

/* A file that snapshots are put into by turns, for want of rights to replace it: this
 * at its start says where the last whole one is. */
#define PLUMB_WATCH_TURNS_MAGIC "PLUMBWTN"
typedef struct PlumbWatchTurns {
  char magic[8];
  uint32_t version; /* of the snapshot */
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t check; /* over its whole words of 8 bytes, see below */
} PlumbWatchTurns;
#define PLUMB_WATCH_CHECK_START UINT64_C(0xcbf29ce484222325)
#define PLUMB_WATCH_CHECK_STEP(check, word) (((check) ^ (word)) * UINT64_C(0x100000001b3))

/* Added to every size for the draw: blocks of no bytes are sampled, too. */
#define PLUMB_WATCH_PAD 16u
/* Points kept of the run's history; when full, every other one goes. */
#define PLUMB_WATCH_POINTS 64u
/* A sample counts as gone stale, for `revived` and `freed_stale`, when it was
 * idle for so many times its active time. */
#define PLUMB_WATCH_FACTOR 10u

/* What the command sends to the socket; the answer is a snapshot. */
#define PLUMB_WATCH_REQUEST "snapshot\n"

enum PlumbWatchSectionKind {
  PLUMB_WATCH_SITES = 0,   /* PlumbWatchSite; 0 is "unknown" */
  PLUMB_WATCH_BLOCKS = 1,  /* PlumbWatchBlock */
  PLUMB_WATCH_FREES = 2,   /* PlumbWatchFree */
  PLUMB_WATCH_HISTORY = 3, /* PlumbWatchPoint, oldest first */
  PLUMB_WATCH_CURVES = 4,  /* float: live bytes, scaled, of site s at point p: [s * points + p] */
  PLUMB_WATCH_TRACE = 5,   /* bytes: a trace (record.h) with modules and stacks */
  PLUMB_WATCH_SECTIONS = 6
};

enum PlumbWatchPhase {
  PLUMB_WATCH_RUNNING = 1,
  PLUMB_WATCH_ENDED = 2,   /* written on the program's way out */
  PLUMB_WATCH_REFUSED = 3, /* the program was not started; see problem_text */
  PLUMB_WATCH_NO_ROOM = 4, /* it ran, but there was no room to watch it */
  PLUMB_WATCH_OTHER = 5    /* not started: it calls its allocator by the name in problem_text */
};

enum PlumbWatchLimit {
  PLUMB_WATCH_NO_TOUCHES = 1,   /* the kernel does not show touches: growth only */
  PLUMB_WATCH_ARENA_FULL = 2,   /* later samples could not be placed */
  PLUMB_WATCH_NO_LARGE = 4,     /* not glibc's malloc: large blocks are not sampled */
  PLUMB_WATCH_SITES_FULL = 8,   /* later sites are one */
  PLUMB_WATCH_STACKS_FULL = 16, /* later stacks are unknown */
  PLUMB_WATCH_NEW_PASSES = 32,  /* the allocator has its own operator new, which is not seen */
  PLUMB_WATCH_SHUT_IN = 64      /* a filter for system calls came: the watching ended there */
};

/* Which of the samples does nothing refer to? Asked as the program ends. */
enum PlumbWatchSearch {
  PLUMB_WATCH_NOT_SEARCHED = 0,
  PLUMB_WATCH_SEARCHED = 1,     /* PLUMB_WATCH_LOST says so of each */
  PLUMB_WATCH_TOO_LARGE = 2,    /* more memory than was to be read */
  PLUMB_WATCH_SEARCH_FAILED = 3 /* no room, or no map of the memory */
};

typedef struct PlumbWatchHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_size;
  uint32_t pid;
  uint32_t phase;
  uint32_t limits;
  uint32_t search;      /* PlumbWatchSearch */
  uint64_t now;         /* CPU time */
  uint64_t elapsed;     /* since the start, by the wall clock */
  uint64_t started;     /* seconds since 1970 */
  uint64_t epoch;       /* length asked for */
  uint64_t epochs;      /* that went by */
  uint64_t mean;        /* bytes between samples at present */
  uint64_t own_time;    /* CPU time of the watching thread */
  uint64_t touch_count; /* touches seen, one per sample and epoch */
  char problem_text[256];
  char command[512]; /* arguments, each ended by 0; may be cut off */
  PlumbSection sections[PLUMB_WATCH_SECTIONS];
} PlumbWatchHeader;

typedef struct PlumbWatchSite {
  uint32_t stack; /* in the trace */
  uint32_t api;   /* PlumbApi */
  uint64_t allocated_samples;
  uint64_t freed_samples;
  double allocated_blocks; /* scaled, as are the next three */
  double allocated_bytes;
  double freed_blocks;
  double freed_bytes;
  uint64_t lifetime_sum; /* of freed samples */
  uint64_t lifetime_max;
  uint32_t revived;      /* had gone stale and were touched again */
  uint32_t freed_stale;  /* had gone stale and were freed */
  uint64_t longest_rest; /* after which one of its blocks was touched again or freed */
} PlumbWatchSite;

/* PlumbWatchBlock.flags */
#define PLUMB_WATCH_OBSERVED 1u /* its touches are seen */
/* Had gone stale and was freed as the program ended, in a last snapshot only: until
 * then it was held for nothing. The sums of its site do not have it as freed. */
#define PLUMB_WATCH_PARTED 2u
/* Nothing referred to it as the program ended. */
#define PLUMB_WATCH_LOST 4u

typedef struct PlumbWatchBlock {
  uint64_t size;
  uint64_t mean; /* in force when it was drawn */
  uint64_t birth;
  uint64_t last; /* end of the last epoch in which it was touched, or birth */
  uint32_t site;
  uint32_t flags;
  uint32_t touches; /* epochs in which it was touched */
  uint32_t access;  /* stack of the last access that was traced; 0: none */
  uint32_t burst;   /* the checks that led there, as a stack: newest first */
  uint32_t reserved;
} PlumbWatchBlock;

typedef struct PlumbWatchFree {
  uint32_t site;
  uint32_t stack; /* of the call to free */
  uint64_t samples;
} PlumbWatchFree;

typedef struct PlumbWatchPoint {
  uint64_t time;
  uint64_t elapsed;
  double heap_bytes; /* scaled, as are the next two */
  double live_blocks;
  double idle_bytes; /* gone stale by PLUMB_WATCH_FACTOR */
} PlumbWatchPoint;

#endif
