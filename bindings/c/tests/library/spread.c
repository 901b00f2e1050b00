// Connections of one pair over both paths, going back, and what can be seen of paths from C. Each
// line that is not so is reported, and makes the exit code 1.

#define _POSIX_C_SOURCE 200809L
#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include "expect.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 10000, CONNECTIONS = 4, MESSAGES = 200, BYTES = 10000 };

static const char SECRET[] = "what all processes of this job know";
static laneway_local_path local[2];

static laneway_paths_options usual(void) {
  laneway_paths_options options;
  memset(&options, 0, sizeof options);
  memset(local, 0, sizeof local);
  local[0].address = "127.0.0.1";
  local[1].address = "127.0.0.2";
  options.paths = local;
  options.count = 2;
  options.secret = SECRET;
  options.secret_length = sizeof SECRET - 1;
  options.accepts = 1;
  options.thread = 1;
  return options;
}

static laneway_paths *opened(const laneway_paths_options *options) {
  laneway_paths *paths = NULL;
  EXPECT(laneway_paths_open(options, &paths) == LANEWAY_DONE);
  if (!paths) exit(1);
  return paths;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static laneway_event next(laneway_paths *paths, int kind) {
  double until = now() + LIMIT_MS / 1000.0;
  laneway_event event;
  while (now() < until) {
    do {
      EXPECT(laneway_paths_next_event(paths, &event) == LANEWAY_DONE);
      if (event.kind == kind) return event;
    } while (event.kind != LANEWAY_EVENT_NONE);
    EXPECT(laneway_paths_wait(paths, LIMIT_MS) == LANEWAY_DONE);
  }
  fprintf(stderr, "no event of kind %d\n", kind);
  exit(1);
}

struct pair {
  laneway_paths *here, *there;
  uint32_t out[CONNECTIONS], in[CONNECTIONS];
};

static void connect_ends(struct pair *pair, int connection) {
  char address[2][64];
  const char *peers[2] = {address[0], address[1]};
  for (int path = 0; path < 2; path++)
    EXPECT(laneway_paths_address(pair->there, path, address[path], 64) == LANEWAY_DONE);
  EXPECT(laneway_paths_connect(pair->here, peers, 2, (uint64_t)connection, LIMIT_MS,
                               &pair->out[connection]) == LANEWAY_DONE);
  laneway_event accepted = next(pair->there, LANEWAY_EVENT_ACCEPTED);
  EXPECT(accepted.label == (uint64_t)connection);
  pair->in[connection] = accepted.connection;
}

static laneway_path_state path(laneway_paths *paths, int number) {
  laneway_path_state is;
  memset(&is, 0, sizeof is);
  EXPECT(laneway_paths_path_state(paths, number, &is) == LANEWAY_DONE);
  return is;
}

// Waits until this number of connections has the paths as primary and, where that is asked, as
// their alternate ones.
static int becomes(laneway_paths *paths, const uint64_t primary[2], const uint64_t alternate[2]) {
  double until = now() + LIMIT_MS / 1000.0;
  while (now() < until) {
    int is = 1;
    for (int number = 0; number < 2; number++) {
      laneway_path_state seen = path(paths, number);
      is &= seen.primary_of == primary[number];
      is &= !alternate || seen.alternate_of == alternate[number];
    }
    if (is) return 1;
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  return 0;
}

// Waits until every connection has an alternate path that can take over.
static int are_armed(const struct pair *pair) {
  double until = now() + LIMIT_MS / 1000.0;
  for (int k = 0; k < CONNECTIONS && now() < until;) {
    laneway_connection_state is;
    EXPECT(laneway_paths_state(pair->here, pair->out[k], &is) == LANEWAY_DONE);
    if (is.migration == LANEWAY_MIGRATION_ARMED) {
      k++;
      continue;
    }
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  return now() < until;
}

// Messages over the connections in turn: each connection keeps its own order.
static void messages(const struct pair *pair) {
  static char sent[BYTES], got[CONNECTIONS][BYTES];
  for (int k = 0; k < MESSAGES; k++) {
    int at = k % CONNECTIONS;
    memset(sent, k, sizeof sent);
    EXPECT(laneway_paths_post_receive(pair->there, pair->in[at], (uint64_t)k, got[at], BYTES) ==
           LANEWAY_DONE);
    EXPECT(laneway_paths_send(pair->here, pair->out[at], (uint64_t)k, sent, BYTES) ==
           LANEWAY_DONE);
    laneway_event event = next(pair->there, LANEWAY_EVENT_RECEIVED);
    EXPECT(event.id == (uint64_t)k && event.connection == pair->in[at]);
    EXPECT(memcmp(sent, got[at], BYTES) == 0);
    next(pair->here, LANEWAY_EVENT_SENT);
  }
}

static void load_over_both_paths(void) {
  const uint64_t both[2] = {2, 2}, first[2] = {4, 0}, none[2] = {0, 0};
  laneway_paths_options options = usual();
  struct pair pair;
  pair.there = opened(&options);
  options.spread = 1;
  options.hold_ms = 20;
  pair.here = opened(&options);
  for (int k = 0; k < CONNECTIONS; k++) connect_ends(&pair, k);
  EXPECT(becomes(pair.here, both, both) && becomes(pair.there, both, both));
  EXPECT(are_armed(&pair));
  uint64_t before[2] = {path(pair.here, 0).sent_bytes, path(pair.here, 1).sent_bytes};
  messages(&pair);
  for (int number = 0; number < 2; number++) {
    uint64_t bytes = path(pair.here, number).sent_bytes - before[number];
    EXPECT(bytes >= MESSAGES / 2 * BYTES && bytes < MESSAGES * BYTES);
    EXPECT(path(pair.there, number).received_packets > 0 && path(pair.here, number).carrier);
  }
  // A path that is drained is left, and taken again when it is given back.
  EXPECT(laneway_paths_drain(pair.here, 1) == LANEWAY_DONE);
  // The other end has not drained it, and may ask for it.
  EXPECT(becomes(pair.here, first, none) && becomes(pair.there, first, NULL));
  EXPECT(path(pair.here, 1).drained == 1 && path(pair.here, 0).drained == 0);
  messages(&pair);
  EXPECT(laneway_paths_undrain(pair.here, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.here, both, both) && becomes(pair.there, both, both));
  EXPECT(path(pair.here, 1).drained == 0 && are_armed(&pair));
  messages(&pair);

  laneway_connection_state is;
  EXPECT(laneway_paths_state(pair.here, pair.out[1], &is) == LANEWAY_DONE);
  EXPECT(is.primary == 1 && is.migrations == 2 && is.waiting == 0 && is.round_trip_ns > 0);
  laneway_counters counters;
  EXPECT(laneway_paths_counters(pair.here, &counters) == LANEWAY_DONE);
  EXPECT(counters.migrations == 4 && counters.sent >= 3 * MESSAGES && counters.received > 0);
  EXPECT(counters.dropped_forged == 0 && counters.malformed == 0);

  uint32_t numbers[CONNECTIONS] = {0};
  int count = 0;
  EXPECT(laneway_paths_connections(pair.here, numbers, 1, &count) == LANEWAY_DONE);
  EXPECT(count == CONNECTIONS && numbers[0] != 0 && numbers[1] == 0);
  EXPECT(laneway_paths_connections(pair.here, NULL, 0, &count) == LANEWAY_DONE);
  EXPECT(laneway_paths_connections(pair.here, numbers, CONNECTIONS, &count) == LANEWAY_DONE);
  for (int k = 0; k < CONNECTIONS; k++)
    EXPECT(laneway_paths_state(pair.here, numbers[k], &is) == LANEWAY_DONE);
  EXPECT(laneway_paths_disconnect(pair.here, pair.out[0]) == LANEWAY_DONE);
  EXPECT(laneway_paths_connections(pair.here, numbers, CONNECTIONS, &count) == LANEWAY_DONE);
  EXPECT(count == CONNECTIONS - 1);
  // What was counted stays when a connection is gone.
  EXPECT(laneway_paths_counters(pair.here, &counters) == LANEWAY_DONE);
  EXPECT(counters.migrations == 4 && counters.sent >= 3 * MESSAGES);
  EXPECT(laneway_paths_close(pair.here) == LANEWAY_DONE);
  EXPECT(laneway_paths_close(pair.there) == LANEWAY_DONE);
}

static void going_back(void) {
  const uint64_t one[2] = {1, 0}, other[2] = {0, 1}, none[2] = {0, 0};
  laneway_paths_options options = usual();
  struct pair pair;
  pair.there = opened(&options);
  for (int goes_back = 0; goes_back < 2; goes_back++) {
    options.first_path = 1;
    options.fail_back = goes_back;
    options.hold_ms = goes_back ? 200 : 0;
    options.most_hold_ms = goes_back ? 400 : 0;
    pair.here = opened(&options);
    connect_ends(&pair, 0);
    EXPECT(becomes(pair.here, other, one));
    EXPECT(laneway_paths_drain(pair.here, 1) == LANEWAY_DONE);
    EXPECT(becomes(pair.here, one, none));
    double begun = now();
    EXPECT(laneway_paths_undrain(pair.here, 1) == LANEWAY_DONE);
    EXPECT(becomes(pair.here, goes_back ? other : one, goes_back ? one : other));
    // It is armed for a while before; without the option it stays where it is.
    EXPECT(!goes_back || now() - begun > 0.19);
    struct timespec moment = {0, 300000000};
    nanosleep(&moment, NULL);
    EXPECT(becomes(pair.here, goes_back ? other : one, goes_back ? one : other));
    EXPECT(laneway_paths_close(pair.here) == LANEWAY_DONE);
    next(pair.there, LANEWAY_EVENT_CLOSED);
  }
  EXPECT(laneway_paths_close(pair.there) == LANEWAY_DONE);
}

// Sends a packet of a stranger to where a path begins.
static void throw_at(laneway_paths *paths, const void *packet, size_t length) {
  char text[64];
  EXPECT(laneway_paths_address(paths, 0, text, 64) == LANEWAY_DONE);
  struct sockaddr_in to;
  memset(&to, 0, sizeof to);
  to.sin_family = AF_INET;
  to.sin_port = htons((unsigned short)atoi(strchr(text, ':') + 1));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  EXPECT(sendto(fd, packet, length, 0, (struct sockaddr *)&to, sizeof to) == (ssize_t)length);
  close(fd);
}

static uint64_t dropped(laneway_paths *paths) {
  laneway_counters seen;
  EXPECT(laneway_paths_counters(paths, &seen) == LANEWAY_DONE);
  return seen.dropped_strange + seen.dropped_misplaced + seen.dropped_forged +
         seen.dropped_refused;
}

static void strangers_are_counted(void) {
  laneway_paths_options options = usual();
  struct pair pair;
  pair.there = opened(&options);
  pair.here = opened(&options);
  connect_ends(&pair, 0);
  EXPECT(dropped(pair.there) == 0);
  unsigned char packet[100];
  for (int k = 0; k < 10; k++) {
    memset(packet, 20 * k, sizeof packet);
    throw_at(pair.there, packet, sizeof packet);
  }
  double until = now() + LIMIT_MS / 1000.0;
  while (dropped(pair.there) < 10 && now() < until) laneway_paths_wait(pair.there, 1);
  EXPECT(dropped(pair.there) == 10);
  // Who has another secret is refused, and counted.
  options.secret = "the secret of quite another job";
  laneway_paths *stranger = opened(&options);
  char text[64];
  const char *peer = text;
  uint32_t number;
  EXPECT(laneway_paths_address(pair.there, 0, text, 64) == LANEWAY_DONE);
  EXPECT(laneway_paths_connect(stranger, &peer, 1, 0, 100, &number) == LANEWAY_NO_ANSWER);
  laneway_counters seen;
  EXPECT(laneway_paths_counters(pair.there, &seen) == LANEWAY_DONE && seen.dropped_refused > 0);
  EXPECT(laneway_paths_close(stranger) == LANEWAY_DONE);
  EXPECT(laneway_paths_close(pair.here) == LANEWAY_DONE);
  EXPECT(laneway_paths_close(pair.there) == LANEWAY_DONE);
}

// A peer without a buffer is asked again as often as it is said.
static void retries(void) {
  laneway_paths_options options = usual();
  options.not_ready_timer = 1;
  options.not_ready_retries = 2;
  options.ack_timeout = 14;
  options.retries = 3;
  struct pair pair;
  pair.there = opened(&options);
  pair.here = opened(&options);
  connect_ends(&pair, 0);
  EXPECT(laneway_paths_send(pair.here, pair.out[0], 1, "x", 1) == LANEWAY_DONE);
  EXPECT(next(pair.here, LANEWAY_EVENT_FAILED).cause == LANEWAY_CAUSE_NOT_READY);
  EXPECT(laneway_paths_close(pair.there) == LANEWAY_DONE);
  EXPECT(laneway_paths_close(pair.here) == LANEWAY_DONE);
}

static void what_is_refused(void) {
  laneway_paths_options options;
  laneway_paths *paths;
#define WITH(change, words) \
  options = usual(), (change), \
  EXPECT(laneway_paths_open(&options, &paths) == LANEWAY_USAGE && says(words) && says("try:"))
  WITH(options.first_path = 2, "first_path is 2");
  WITH(options.first_path = -1, "first_path is -1");
  WITH(options.hold_ms = 20, "no connection goes back");
  WITH((options.spread = 1, options.hold_ms = -1), "hold_ms is -1");
  WITH((options.fail_back = 1, options.most_hold_ms = -1), "most_hold_ms is -1");
  WITH((options.fail_back = 1, options.most_hold_ms = 100), "most_hold_ms is 100");
  WITH(options.ack_timeout = 32, "ack_timeout is 32");
  WITH(options.ack_timeout = -2, "ack_timeout is -2");
  WITH(options.retries = 8, "retries is 8");
  WITH(options.not_ready_timer = -1, "not_ready_timer is -1");
  WITH(options.not_ready_retries = 7, "not_ready_retries is 7");
  options = usual();
  paths = opened(&options);
  laneway_path_state is;
  laneway_counters counters;
  uint32_t number;
  int count;
  EXPECT(laneway_paths_path_state(paths, 2, &is) == LANEWAY_USAGE && says("path 2"));
  EXPECT(laneway_paths_path_state(paths, -1, &is) == LANEWAY_USAGE && says("no such path"));
  EXPECT(laneway_paths_path_state(paths, 0, NULL) == LANEWAY_USAGE && says("state is NULL"));
  EXPECT(laneway_paths_counters(paths, NULL) == LANEWAY_USAGE && says("counters is NULL"));
  EXPECT(laneway_paths_connections(paths, NULL, 1, &count) == LANEWAY_USAGE);
  EXPECT(laneway_paths_connections(paths, &number, 1, NULL) == LANEWAY_USAGE);
  EXPECT(laneway_paths_connections(paths, &number, -1, &count) == LANEWAY_USAGE);
  EXPECT(laneway_paths_connections(paths, &number, 1, &count) == LANEWAY_DONE && count == 0);
  EXPECT(laneway_paths_close(paths) == LANEWAY_DONE);
  EXPECT(laneway_paths_path_state(paths, 0, &is) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_counters(paths, &counters) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_connections(paths, &number, 1, &count) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_counters(NULL, &counters) == LANEWAY_USAGE);
}

int main(void) {
  load_over_both_paths();
  going_back();
  strangers_are_counted();
  retries();
  what_is_refused();
  if (faults == 0) printf("spread as promised\n");
  return faults != 0;
}
