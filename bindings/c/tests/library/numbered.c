// Numbered messages over paths that die: each must arrive once, in order and whole. Over several
// connections they go in turn, and the connections are spread over both paths.
//
//   numbered receive SECRET COUNT CONNECTIONS ADDRESS DEVICE ADDRESS DEVICE
//   numbered send SECRET COUNT CONNECTIONS ADDRESS DEVICE ADDRESS DEVICE PEER PEER

#define _POSIX_C_SOURCE 200809L
#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORT = 47100, BYTES = 3000, BUFFERS = 32, MOST = 8, LIMIT_MS = 20000 };

static int migrated;

static void must(int code, const char *what) {
  if (code == LANEWAY_DONE) return;
  fprintf(stderr, "%s:\n%s\n", what, laneway_last_error());
  exit(1);
}

static void fail(const char *what, long number) {
  fprintf(stderr, "%s: %ld\n", what, number);
  exit(1);
}

static laneway_paths *opened(char **words, int accepts, int spread) {
  laneway_local_path local[2];
  memset(local, 0, sizeof local);
  for (int path = 0; path < 2; path++) {
    local[path].address = words[1 + 2 * path];
    local[path].device = words[2 + 2 * path];
    local[path].first_port = local[path].last_port = PORT;
  }
  laneway_paths_options options;
  memset(&options, 0, sizeof options);
  options.paths = local;
  options.count = 2;
  options.secret_file = words[0];
  options.accepts = accepts;
  options.thread = 1;
  options.spread = spread;
  laneway_paths *paths;
  must(laneway_paths_open(&options, &paths), "opening");
  return paths;
}

// The next event, other than those of paths.
static laneway_event next(laneway_paths *paths) {
  for (int waits = 0; waits < LIMIT_MS; waits++) {
    laneway_event event;
    do {
      must(laneway_paths_next_event(paths, &event), "an event");
      migrated += event.kind == LANEWAY_EVENT_MIGRATED;
      if (event.kind == LANEWAY_EVENT_FAILED) fail("broken, cause", event.cause);
      if (event.kind > LANEWAY_EVENT_NONE && event.kind < LANEWAY_EVENT_ARMED) return event;
    } while (event.kind != LANEWAY_EVENT_NONE);
    must(laneway_paths_wait(paths, LIMIT_MS), "waiting");
  }
  fail("nothing happens", LIMIT_MS);
  exit(1);
}

// The number that an accepted connection has among all, which is its label.
static int place(const uint32_t *connections, int count, uint32_t connection) {
  for (int c = 0; c < count; c++)
    if (connections[c] == connection) return c;
  fail("an unknown connection", connection);
  return 0;
}

static void receive(laneway_paths *paths, long count, int connections) {
  static unsigned char room[MOST][BUFFERS][BYTES];
  uint32_t numbers[MOST] = {0};
  long taken[MOST] = {0};
  for (int c = 0; c < connections; c++) {
    laneway_event event = next(paths);
    if (event.kind != LANEWAY_EVENT_ACCEPTED) fail("not accepted, but", event.kind);
    numbers[event.label] = event.connection;
    for (long k = 0; k < BUFFERS; k++)
      must(laneway_paths_post_receive(paths, event.connection, (uint64_t)k, room[event.label][k],
                                      BYTES), "a buffer");
  }
  for (long all = 0; all < count; all++) {
    laneway_event event = next(paths);
    if (event.kind != LANEWAY_EVENT_RECEIVED) fail("no message, but", event.kind);
    int c = place(numbers, connections, event.connection);
    // The k-th message of a connection.
    long number, k = taken[c]++, due = k * connections + c;
    unsigned char *got = room[c][k % BUFFERS];
    memcpy(&number, got, sizeof number);
    if (number != due || event.id != (uint64_t)k) fail("out of order or twice", number);
    for (size_t i = sizeof number; i < BYTES; i++)
      if (got[i] != (unsigned char)(due + (long)i)) fail("damaged", due);
    must(laneway_paths_post_receive(paths, event.connection, (uint64_t)(k + BUFFERS), got, BYTES),
         "a buffer");
  }
  for (int c = 0; c < connections; c++) {
    laneway_event event = next(paths);
    if (event.kind != LANEWAY_EVENT_CLOSED) fail("more than was sent: event", event.kind);
  }
}

static void send_all(laneway_paths *paths, long count, int connections, char **peers) {
  char address[2][64];
  const char *list[2] = {address[0], address[1]};
  for (int i = 0; i < 2; i++) snprintf(address[i], 64, "%s:%d", peers[i], PORT);
  uint32_t numbers[MOST];
  for (int c = 0; c < connections; c++)
    must(laneway_paths_connect(paths, list, 2, (uint64_t)c, LIMIT_MS, &numbers[c]), "connecting");
  printf("connected\n");
  fflush(stdout);
  unsigned char message[BYTES];
  long arrived[MOST] = {0};
  for (long k = 0, sent = 0; sent < count;) {
    if (k < count && k - sent < BUFFERS) {
      memcpy(message, &k, sizeof k);
      for (size_t i = sizeof k; i < BYTES; i++) message[i] = (unsigned char)(k + (long)i);
      must(laneway_paths_send(paths, numbers[k % connections], (uint64_t)k, message, BYTES),
           "a message");
      k++;
      struct timespec moment = {0, 200000};
      nanosleep(&moment, NULL);
    } else {
      laneway_event event = next(paths);
      if (event.kind != LANEWAY_EVENT_SENT) fail("not sent, but", event.kind);
      int c = place(numbers, connections, event.connection);
      if (event.id != (uint64_t)(arrived[c]++ * connections + c))
        fail("events out of order", (long)event.id);
      sent++;
    }
  }
  for (int path = 0; path < 2; path++) {
    laneway_path_state seen;
    must(laneway_paths_path_state(paths, path, &seen), "a path");
    printf("path %d sent %llu\n", path, (unsigned long long)seen.sent_bytes);
  }
}

int main(int argc, char **argv) {
  int sends = argc > 1 && strcmp(argv[1], "send") == 0;
  if (argc != (sends ? 11 : 9)) return 2;
  long count = atol(argv[3]);
  int connections = atoi(argv[4]);
  if (connections < 1 || connections > MOST) return 2;
  char *words[] = {argv[2], argv[5], argv[6], argv[7], argv[8]};
  laneway_paths *paths = opened(words, !sends, connections > 1);
  printf("ready\n");
  fflush(stdout);
  if (sends)
    send_all(paths, count, connections, argv + 9);
  else
    receive(paths, count, connections);
  must(laneway_paths_close(paths), "closing");
  printf("%ld messages, each once and in order, %d migrations\n", count, migrated);
  return 0;
}
