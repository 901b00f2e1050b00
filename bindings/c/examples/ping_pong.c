// Connections that outlive their path, without MPI: two ends of one process over two addresses of
// this machine send a message there and back, load an alternate path, migrate to it half way, and
// go on. Between two machines each would have one of the ends, and a device for each path.
//
//   cc ping_pong.c -o ping_pong $(pkg-config --cflags --libs laneway) && ./ping_pong

#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIPS = 1000, LIMIT_MS = 10000 };

// Ends the program with what the library has to say.
static void must(int code, const char *what) {
  if (code == LANEWAY_DONE) return;
  fprintf(stderr, "%s:\n%s\n", what, laneway_last_error());
  exit(code);
}

// Initialisation: both paths, and a thread that goes on while the program does something else. The
// program itself says when a path is specified, loaded and used.
static laneway_paths *opened(void) {
  laneway_local_path local[2];
  memset(local, 0, sizeof local);
  local[0].address = "127.0.0.1";
  local[1].address = "127.0.0.2";
  laneway_paths_options options;
  memset(&options, 0, sizeof options);
  options.paths = local;
  options.count = 2;
  options.secret = "what all processes of this job know";
  options.secret_length = strlen(options.secret);
  options.accepts = 1;
  options.by_hand = 1;
  options.on_migrated = LANEWAY_ON_MIGRATED_NOTHING;
  options.thread = 1;
  laneway_paths *paths;
  must(laneway_paths_open(&options, &paths), "opening");
  return paths;
}

// Progress engine: the next event of a kind; others are passed over.
static laneway_event next(laneway_paths *paths, int kind) {
  for (int waits = 0; waits < LIMIT_MS; waits++) {
    laneway_event event;
    do {
      must(laneway_paths_next_event(paths, &event), "an event");
      if (event.kind == kind) return event;
      if (event.kind == LANEWAY_EVENT_FAILED || event.kind == LANEWAY_EVENT_CLOSED) exit(1);
    } while (event.kind != LANEWAY_EVENT_NONE);
    must(laneway_paths_wait(paths, LIMIT_MS), "waiting");
  }
  fprintf(stderr, "no event of kind %d\n", kind);
  exit(1);
}

static void print_state(laneway_paths *paths, uint32_t connection, const char *when) {
  static const char *pair[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERROR"};
  static const char *migration[] = {"MIGRATED", "REARM", "ARMED"};
  laneway_connection_state is;
  must(laneway_paths_state(paths, connection, &is), "the state");
  printf("%-16s %s %-8s primary %d alternate %2d\n", when, pair[is.queue_pair],
         migration[is.migration], is.primary, is.alternate);
}

// One message from one end to the other.
static void carry(laneway_paths *from, uint32_t out, laneway_paths *to, uint32_t in, int number) {
  int got = -1;
  must(laneway_paths_post_receive(to, in, 1, &got, sizeof got), "a buffer");
  must(laneway_paths_send(from, out, 1, &number, sizeof number), "a message");
  laneway_event event = next(to, LANEWAY_EVENT_RECEIVED);
  if (event.length != sizeof got || got != number) {
    fprintf(stderr, "message %d came as %d\n", number, got);
    exit(1);
  }
}

int main(void) {
  laneway_paths *here = opened(), *there = opened();

  // Where the other end is; between machines the program has to tell it in its own way.
  char address[2][64];
  const char *peers[2];
  for (int path = 0; path < 2; path++) {
    must(laneway_paths_address(there, path, address[path], sizeof address[path]), "an address");
    peers[path] = address[path];
  }
  uint32_t connection;
  must(laneway_paths_connect(here, peers, 2, 7, LIMIT_MS, &connection), "connecting");
  uint32_t peer = next(there, LANEWAY_EVENT_ACCEPTED).connection;
  print_state(here, connection, "connected");

  for (int trip = 0; trip < TRIPS; trip++) {
    if (trip == TRIPS / 4) {
      must(laneway_paths_specify(here, &connection, 1, 1), "specifying");
      must(laneway_paths_load(here, &connection, 1), "loading");
      print_state(here, connection, "load requested");
      next(here, LANEWAY_EVENT_ARMED);
      print_state(here, connection, "loaded");
    }
    if (trip == TRIPS / 2) {
      must(laneway_paths_migrate(here, &connection, 1), "migrating");
      next(here, LANEWAY_EVENT_MIGRATED);
      print_state(here, connection, "migrated");
    }
    carry(here, connection, there, peer, trip);
    carry(there, peer, here, connection, trip);
  }
  print_state(there, peer, "at the peer");
  printf("%d round trips, every message right\n", TRIPS);

  must(laneway_paths_close(here), "closing");
  next(there, LANEWAY_EVENT_CLOSED);
  must(laneway_paths_close(there), "closing");
  return 0;
}
