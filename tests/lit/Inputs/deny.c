/* deny WHAT COMMAND...: runs the command on a kernel that lacks a piece.
 *   pagemap  reads from far behind in a file fail, as of /proc/self/pagemap
 *   alias    a mapping cannot be had twice (mremap of nothing)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, field)
#define HIGH(n) (offsetof(struct seccomp_data, args[n]) + 4)
#define LOW(n) offsetof(struct seccomp_data, args[n])
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct sock_filter pagemap[] = {
      LOAD(offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 3),
      LOAD(HIGH(3)), /* beyond 32 GB */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 8, 0, 1),
      REFUSE,
      ALLOW,
  };
  struct sock_filter alias[] = {
      LOAD(offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 5),
      LOAD(LOW(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
      LOAD(HIGH(1)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
      REFUSE,
      ALLOW,
  };
  const struct sock_fprog program =
      strcmp(argv[1], "alias") == 0
          ? (struct sock_fprog){sizeof alias / sizeof *alias, alias}
          : (struct sock_fprog){sizeof pagemap / sizeof *pagemap, pagemap};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("deny");
    return 2;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 2;
}
