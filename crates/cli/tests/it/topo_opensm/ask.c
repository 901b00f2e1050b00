// Asks switches for the counters of their first port, from every host of a simulated subnet, with
// the library and the call by which `perfquery` asks. Prints "HOST LID" for each that is silent.
//
//   ibsim-run ask HOST... -- LID...
//
// A process is one host to ibsim for as long as it lives, and one that asks many switches takes the
// time of one `perfquery`.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// What <infiniband/mad.h> says, which is a package of its own.
typedef struct {
  int lid;
  struct {
    int hops;
    uint8_t ports[64];
    uint16_t source, destination;
  } direct;
  int has_grh;
  uint8_t gid[16];
  uint32_t queue_pair, key;
  uint8_t service_level;
  unsigned partition;
} portid;
struct ibmad_port;
struct ibmad_port *mad_rpc_open_port(char *device, int port, int *classes, int count);
uint8_t *pma_query_via(void *into, portid *to, int port, unsigned timeout_ms, unsigned attribute,
                       const struct ibmad_port *by);
enum { SUBNET_CLASS = 1, PERFORMANCE_CLASS = 4, PORT_COUNTERS = 0x12, FIRST_PORT = 1 };

// In a process of its own: the simulator's library looks at the name before the first call.
static int ask(const char *host, char **lids) {
  int classes[] = {SUBNET_CLASS, PERFORMANCE_CLASS};
  setenv("SIM_HOST", host, 1);
  struct ibmad_port *port = mad_rpc_open_port(NULL, 0, classes, 2);
  if (!port) return fprintf(stderr, "%s cannot ask\n", host), 1;
  for (; *lids; lids++) {
    uint8_t answer[1024];
    portid to = {0};
    to.lid = atoi(*lids);
    // A way that is missing is missing each time; on a busy machine a question may be lost.
    int tries = 3;
    while (tries && !pma_query_via(answer, &to, FIRST_PORT, 0, PORT_COUNTERS, port)) tries--;
    if (!tries) printf("%s %s\n", host, *lids);
  }
  return fflush(stdout) != 0;
}

int main(int count, char **words) {
  int end = 1, failed = 0;
  while (end < count && strcmp(words[end], "--") != 0) end++;
  if (end + 1 >= count) return fputs("ask HOST... -- LID...\n", stderr), 2;
  for (int at = 1; at < end; at++) {
    int status;
    pid_t child = fork();
    if (child == 0) exit(ask(words[at], words + end + 1));
    failed |= child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  return failed;
}
