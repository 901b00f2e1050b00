// What connections promise to a program in C: wrong arguments, wrong states, handles that are gone,
// and what the thread does. Each line that is not so is reported, and makes the exit code 1.

#define _POSIX_C_SOURCE 200809L
#define LANEWAY_WITHOUT_MPI
#include <laneway.h>

#include "expect.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LIMIT_MS = 10000 };

static const char SECRET[] = "what all processes of this job know";
static laneway_local_path local[9];

// Two paths of this machine, with a thread, and nothing by itself.
static laneway_paths_options usual(void) {
  laneway_paths_options options;
  memset(&options, 0, sizeof options);
  memset(local, 0, sizeof local);
  for (int i = 0; i < 9; i++) local[i].address = i % 2 ? "127.0.0.2" : "127.0.0.1";
  options.paths = local;
  options.count = 2;
  options.secret = SECRET;
  options.secret_length = sizeof SECRET - 1;
  options.accepts = 1;
  options.by_hand = 1;
  options.on_migrated = LANEWAY_ON_MIGRATED_NOTHING;
  options.thread = 1;
  return options;
}

static laneway_paths *opened(const laneway_paths_options *options) {
  laneway_paths *paths = NULL;
  EXPECT(laneway_paths_open(options, &paths) == LANEWAY_DONE);
  if (!paths) exit(1);
  return paths;
}

static int refuses(const laneway_paths_options *options) {
  laneway_paths *paths = (laneway_paths *)&faults;
  int code = laneway_paths_open(options, &paths);
  EXPECT(paths == NULL);
  return code;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

// The next event of a kind; `other` is moved on meanwhile, unless a thread does it.
static laneway_event next_with(laneway_paths *paths, int kind, laneway_paths *other) {
  double until = now() + LIMIT_MS / 1000.0;
  laneway_event event;
  while (now() < until) {
    do {
      EXPECT(laneway_paths_next_event(paths, &event) == LANEWAY_DONE);
      if (event.kind == kind) return event;
    } while (event.kind != LANEWAY_EVENT_NONE);
    if (other) laneway_paths_progress(other);
    EXPECT(laneway_paths_wait(paths, other ? 1 : LIMIT_MS) == LANEWAY_DONE);
  }
  fprintf(stderr, "no event of kind %d\n", kind);
  exit(1);
}

static laneway_event next(laneway_paths *paths, int kind) { return next_with(paths, kind, NULL); }

static laneway_connection_state state(laneway_paths *paths, uint32_t connection) {
  laneway_connection_state is;
  memset(&is, 0, sizeof is);
  EXPECT(laneway_paths_state(paths, connection, &is) == LANEWAY_DONE);
  return is;
}

// Waits until a connection is in a migration state, with these paths.
static int becomes(laneway_paths *paths, uint32_t connection, int migration, int primary,
                   int alternate) {
  double until = now() + LIMIT_MS / 1000.0;
  while (now() < until) {
    laneway_connection_state is = state(paths, connection);
    if (is.migration == migration && is.primary == primary && is.alternate == alternate) return 1;
    struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  return 0;
}

struct pair {
  laneway_paths *here, *there;
  uint32_t out, in;
};

static void connect_ends(struct pair *pair, int count) {
  char address[8][64];
  const char *peers[8];
  for (int path = 0; path < count; path++) {
    EXPECT(laneway_paths_address(pair->there, path, address[path], 64) == LANEWAY_DONE);
    peers[path] = address[path];
  }
  EXPECT(laneway_paths_connect(pair->here, peers, count, 42, LIMIT_MS, &pair->out) ==
         LANEWAY_DONE);
  laneway_event accepted = next(pair->there, LANEWAY_EVENT_ACCEPTED);
  EXPECT(accepted.label == 42);
  pair->in = accepted.connection;
}

static struct pair connected(const laneway_paths_options *options) {
  struct pair pair;
  pair.here = opened(options);
  pair.there = opened(options);
  connect_ends(&pair, options->count);
  return pair;
}

static void done(const struct pair *pair) {
  EXPECT(laneway_paths_close(pair->here) == LANEWAY_DONE);
  EXPECT(laneway_paths_close(pair->there) == LANEWAY_DONE);
}

// A message goes through, whatever was refused before.
static void goes_on(const struct pair *pair, int line) {
  static uint64_t number;
  char sent[32], got[32] = "";
  snprintf(sent, sizeof sent, "message %d", (int)++number);
  int code = laneway_paths_post_receive(pair->there, pair->in, 1000 + number, got, sizeof got);
  expect(code == LANEWAY_DONE, "a buffer is taken", line);
  code = laneway_paths_send(pair->here, pair->out, number, sent, strlen(sent));
  expect(code == LANEWAY_DONE, "a message is taken", line);
  laneway_event event = next(pair->there, LANEWAY_EVENT_RECEIVED);
  expect(event.id == 1000 + number && event.length == strlen(sent), "it is this one", line);
  expect(strcmp(sent, got) == 0, "it is whole", line);
  event = next(pair->here, LANEWAY_EVENT_SENT);
  expect(event.id == number && event.length == strlen(sent), "its arrival is reported", line);
}

#define GOES_ON(pair) goes_on(pair, __LINE__)

static void wrong_handles(void) {
  laneway_paths_options options = usual();
  laneway_paths *gone = opened(&options);
  EXPECT(laneway_paths_close(gone) == LANEWAY_DONE);
  laneway_paths *wrong[] = {NULL, gone, (laneway_paths *)&faults};
  for (int i = 0; i < 3; i++) {
    laneway_paths *paths = wrong[i];
    int code = paths ? LANEWAY_UNKNOWN : LANEWAY_USAGE;
    const char *words = paths ? "closed, or never opened" : "paths is NULL";
    uint32_t number = 1;
    char text[64];
    const char *peer = "127.0.0.1:1";
    laneway_event event;
    laneway_connection_state is;
    EXPECT(laneway_paths_address(paths, 0, text, 64) == code && says(words));
    EXPECT(laneway_paths_begin_connect(paths, &peer, 1, 0, 1, &number) == code && says(words));
    EXPECT(laneway_paths_connect(paths, &peer, 1, 0, 1, &number) == code && says(words));
    EXPECT(laneway_paths_send(paths, 1, 1, "x", 1) == code && says(words));
    EXPECT(laneway_paths_post_receive(paths, 1, 1, text, 1) == code && says(words));
    EXPECT(laneway_paths_disconnect(paths, 1) == code && says(words));
    EXPECT(laneway_paths_progress(paths) == code && says(words));
    EXPECT(laneway_paths_wait(paths, 1) == code && says(words));
    EXPECT(laneway_paths_next_event(paths, &event) == code && says(words));
    EXPECT(laneway_paths_specify(paths, &number, 1, 1) == code && says(words));
    EXPECT(laneway_paths_load(paths, &number, 1) == code && says(words));
    EXPECT(laneway_paths_migrate(paths, &number, 1) == code && says(words));
    EXPECT(laneway_paths_state(paths, 1, &is) == code && says(words));
    EXPECT(laneway_paths_drain(paths, 0) == code && says(words));
    EXPECT(laneway_paths_undrain(paths, 0) == code && says(words));
    EXPECT(laneway_paths_close(paths) == code && says(words) && says("try:"));
  }
}

static void never(laneway_paths *paths, const laneway_event *event, void *data) {
  (void)paths, (void)event, (void)data;
  faults++;
}

static void wrong_options(const char *folder) {
  laneway_paths_options options = usual();
  laneway_paths *paths;
  EXPECT(laneway_paths_open(NULL, &paths) == LANEWAY_USAGE && says("options is NULL"));
  EXPECT(laneway_paths_open(&options, NULL) == LANEWAY_USAGE && says("paths is NULL"));
#define WITH(change, code, words) \
  options = usual(), (change), EXPECT(refuses(&options) == (code) && says(words) && says("try:"))
  WITH(options.count = 0, LANEWAY_USAGE, "0 paths");
  WITH(options.count = 9, LANEWAY_USAGE, "9 paths");
  WITH(options.count = -1, LANEWAY_USAGE, "-1 members");
  WITH(options.paths = NULL, LANEWAY_USAGE, "paths is NULL");
  WITH(local[1].address = NULL, LANEWAY_USAGE, "address is NULL");
  WITH(local[1].address = "localhost", LANEWAY_USAGE, "`localhost`");
  WITH(local[1].address = "127.0.0.1:80", LANEWAY_USAGE, "`127.0.0.1:80`");
  WITH(local[1].address = "192.0.2.1", LANEWAY_ENVIRONMENT, "192.0.2.1");
  WITH(local[1].device = "no-such-dev", LANEWAY_ENVIRONMENT, "no-such-dev");
  WITH(local[1].device = "", LANEWAY_USAGE, "unknown device");
  WITH(local[1].device = "longer-than-any-device", LANEWAY_USAGE, "longer-than-any-device");
  WITH((local[1].first_port = 9, local[1].last_port = 8), LANEWAY_USAGE, "9 to 8");
  WITH(local[1].last_port = 8, LANEWAY_USAGE, "0 to 8");
  WITH(local[1].mtu = 100, LANEWAY_USAGE, "mtu is 100");
  WITH(local[1].mtu = -1, LANEWAY_USAGE, "mtu is -1");
  WITH(options.on_armed = 2, LANEWAY_USAGE, "on_armed is 2");
  WITH(options.on_migrated = -1, LANEWAY_USAGE, "on_migrated is -1");
  WITH((options.thread = 0, options.on_event = never), LANEWAY_USAGE, "on_event");
  WITH(options.secret_length = 15, LANEWAY_USAGE, "15 bytes");
  WITH(options.secret = NULL, LANEWAY_USAGE, "secret is NULL");
  WITH(options.secret_file = "no-such-file", LANEWAY_USAGE, "both");
  laneway_paths_options without = usual();
  without.secret = NULL, without.secret_length = 0;
  WITH((options = without, local[1].address = "0.0.0.0"), LANEWAY_USAGE, "0.0.0.0");
  WITH((options = without, options.secret_file = "no-such-file"), LANEWAY_ENVIRONMENT,
       "no-such-file");
  char file[4096];
  snprintf(file, sizeof file, "%s/secret", folder);
  FILE *stream = fopen(file, "w");
  if (!stream) exit(1);
  fprintf(stream, "%s\n", SECRET);
  fclose(stream);
  chmod(file, 0644);
  WITH((options = without, options.secret_file = file), LANEWAY_ENVIRONMENT, "mode 644, not 600");
  chmod(file, 0600);
  options = without;
  options.secret_file = file;
  struct pair pair = {opened(&options), NULL, 0, 0};
  // The same secret as bytes; and the ports that are given can be taken once.
  options = usual();
  pair.there = opened(&options);
  connect_ends(&pair, 2);
  GOES_ON(&pair);
  char text[64];
  EXPECT(laneway_paths_address(pair.there, 0, text, 64) == LANEWAY_DONE);
  EXPECT(strncmp(text, "127.0.0.1:", 10) == 0);
  unsigned short port = (unsigned short)atoi(text + 10);
  WITH((local[0].first_port = port), LANEWAY_ENVIRONMENT, "is free");
  EXPECT(laneway_paths_address(pair.here, 2, text, 64) == LANEWAY_USAGE && says("0 to 1"));
  EXPECT(laneway_paths_address(pair.here, -1, text, 64) == LANEWAY_USAGE);
  EXPECT(laneway_paths_address(pair.here, 0, text, 8) == LANEWAY_USAGE && says("no room"));
  EXPECT(laneway_paths_address(pair.here, 0, NULL, 64) == LANEWAY_USAGE);
  done(&pair);
}

static void wrong_peers(void) {
  laneway_paths_options options = usual();
  struct pair pair = connected(&options);
  uint32_t number = 77;
  const char *peers[] = {"127.0.0.1:9", "nowhere", NULL};
#define REFUSES(list, count, limit, words) \
  EXPECT(laneway_paths_connect(pair.here, list, count, 0, limit, &number) == LANEWAY_USAGE && \
         says(words)); \
  EXPECT(laneway_paths_begin_connect(pair.here, list, count, 0, limit, &number) == \
             LANEWAY_USAGE && says(words))
  REFUSES(peers, 2, 10, "`nowhere`");
  REFUSES(peers + 2, 1, 10, "is NULL");
  REFUSES(NULL, 1, 10, "peers is NULL");
  REFUSES(peers, 0, 10, "0 paths");
  REFUSES(peers, -2, 10, "-2 members");
  REFUSES(peers, 1, -1, "-1 ms");
  const char *many[9];
  for (int i = 0; i < 9; i++) many[i] = peers[0];
  REFUSES(many, 9, 10, "9 paths");
  EXPECT(laneway_paths_connect(pair.here, peers, 1, 0, 10, NULL) == LANEWAY_USAGE);
  EXPECT(number == 77);
  // No endpoint is there; and one that is there has another secret.
  double begun = now();
  EXPECT(laneway_paths_connect(pair.here, peers, 1, 0, 100, &number) == LANEWAY_NO_ANSWER);
  EXPECT(says("127.0.0.1:9") && now() - begun < 2);
  EXPECT(laneway_paths_begin_connect(pair.here, peers, 1, 0, 50, &number) == LANEWAY_DONE);
  EXPECT(next(pair.here, LANEWAY_EVENT_NO_ANSWER).connection == number);
  options.secret = "the secret of quite another job";
  laneway_paths *stranger = opened(&options);
  char text[64];
  EXPECT(laneway_paths_address(pair.there, 0, text, 64) == LANEWAY_DONE);
  peers[0] = text;
  EXPECT(laneway_paths_connect(stranger, peers, 1, 0, 100, &number) == LANEWAY_NO_ANSWER);
  EXPECT(laneway_paths_close(stranger) == LANEWAY_DONE);
  GOES_ON(&pair);
  done(&pair);
}

static void wrong_calls(void) {
  laneway_paths_options options = usual();
  struct pair pair = connected(&options);
  laneway_paths *here = pair.here;
  uint32_t both[2] = {pair.out, pair.out + (1 << 14)};
  EXPECT(laneway_paths_send(here, both[1], 1, "x", 1) == LANEWAY_UNKNOWN);
  EXPECT(says("no connection"));
  EXPECT(laneway_paths_send(here, pair.out, 1, NULL, 1) == LANEWAY_USAGE && says("data is NULL"));
  EXPECT(laneway_paths_send(here, pair.out, 1, "x", (size_t)-1 / 2) == LANEWAY_ENVIRONMENT);
  EXPECT(says("out of memory"));
  EXPECT(laneway_paths_post_receive(here, pair.out, 1, NULL, 1) == LANEWAY_USAGE);
  EXPECT(laneway_paths_post_receive(here, pair.out, 1, both, (size_t)-1) == LANEWAY_ENVIRONMENT);
  EXPECT(laneway_paths_post_receive(here, both[1], 1, both, 8) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_disconnect(here, both[1]) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_wait(here, -1) == LANEWAY_USAGE && says("-1 ms"));
  EXPECT(laneway_paths_next_event(here, NULL) == LANEWAY_USAGE && says("event is NULL"));
  EXPECT(laneway_paths_state(here, pair.out, NULL) == LANEWAY_USAGE && says("state is NULL"));
  laneway_connection_state is;
  EXPECT(laneway_paths_state(here, both[1], &is) == LANEWAY_UNKNOWN);
  GOES_ON(&pair);

  // The modules in wrong states and with wrong paths; nothing changes.
  EXPECT(laneway_paths_load(here, both, 1) == LANEWAY_STATE && says("specify before"));
  EXPECT(laneway_paths_migrate(here, both, 1) == LANEWAY_STATE && says("MIGRATED"));
  EXPECT(laneway_paths_specify(here, both, 1, 0) == LANEWAY_USAGE && says("is the primary path"));
  EXPECT(laneway_paths_specify(here, both, 1, 2) == LANEWAY_USAGE && says("path 2"));
  EXPECT(laneway_paths_specify(here, both, 1, -1) == LANEWAY_USAGE && says("no such path"));
  EXPECT(laneway_paths_specify(here, both, 1, 256) == LANEWAY_USAGE && says("no such path"));
  EXPECT(laneway_paths_specify(here, NULL, 1, 1) == LANEWAY_USAGE);
  EXPECT(laneway_paths_specify(here, both, -1, 1) == LANEWAY_USAGE);
  EXPECT(laneway_paths_specify(here, NULL, 0, 1) == LANEWAY_DONE);
  EXPECT(laneway_paths_drain(here, 2) == LANEWAY_USAGE && says("path 2"));
  EXPECT(laneway_paths_undrain(here, -1) == LANEWAY_USAGE);
  is = state(here, pair.out);
  EXPECT(is.queue_pair == LANEWAY_QP_RTS && is.migration == LANEWAY_MIGRATION_MIGRATED);
  EXPECT(is.primary == 0 && is.alternate == -1 && is.migrations == 0);
  GOES_ON(&pair);

  // A list with one that is not there: the others are done, and the words name it.
  EXPECT(laneway_paths_specify(here, both, 2, 1) == LANEWAY_UNKNOWN);
  char named[32];
  snprintf(named, sizeof named, "connection %u", (unsigned)both[1]);
  EXPECT(says(named));
  EXPECT(state(here, pair.out).alternate == 1);

  // A peer that keeps off the path does not arm it, and one that is not armed does not migrate.
  EXPECT(laneway_paths_drain(pair.there, 1) == LANEWAY_DONE);
  EXPECT(laneway_paths_load(here, both, 1) == LANEWAY_DONE);
  EXPECT(laneway_paths_migrate(here, both, 1) == LANEWAY_STATE && says("REARM"));
  GOES_ON(&pair);
  EXPECT(state(here, pair.out).migration == LANEWAY_MIGRATION_REARM);
  EXPECT(laneway_paths_undrain(pair.there, 1) == LANEWAY_DONE);
  EXPECT(becomes(here, pair.out, LANEWAY_MIGRATION_ARMED, 0, 1));
  EXPECT(laneway_paths_migrate(here, both, 1) == LANEWAY_DONE);
  laneway_event event = next(here, LANEWAY_EVENT_MIGRATED);
  EXPECT(event.from == 0 && event.path == 1 && event.cause == LANEWAY_CAUSE_REQUEST);
  EXPECT(event.connection == pair.out);
  event = next(pair.there, LANEWAY_EVENT_MIGRATED);
  EXPECT(event.from == 0 && event.path == 1 && event.cause == LANEWAY_CAUSE_PEER);
  GOES_ON(&pair);
  done(&pair);
}

// A message that is too long breaks its connection and no other.
static void short_buffers(void) {
  laneway_paths_options options = usual();
  struct pair pair = connected(&options), other = pair;
  connect_ends(&other, 2);
  char room[100], small[10], long_message[100] = {1};
  memset(room, 7, sizeof room);
  memset(small, 7, sizeof small);
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 5, small, 10) == LANEWAY_DONE);
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 6, room, 100) == LANEWAY_DONE);
  EXPECT(laneway_paths_send(pair.here, pair.out, 1, long_message, 100) == LANEWAY_DONE);
  EXPECT(next(pair.there, LANEWAY_EVENT_RECEIVE_FLUSHED).id == 5);
  EXPECT(next(pair.there, LANEWAY_EVENT_RECEIVE_FLUSHED).id == 6);
  laneway_event event = next(pair.there, LANEWAY_EVENT_FAILED);
  EXPECT(event.connection == pair.in && event.cause == LANEWAY_CAUSE_MESSAGE);
  EXPECT(small[0] == 7 && room[0] == 7);
  EXPECT(state(pair.there, pair.in).queue_pair == LANEWAY_QP_ERROR);
  EXPECT(laneway_paths_send(pair.there, pair.in, 1, "x", 1) == LANEWAY_STATE && says("ERROR"));
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 7, room, 9) == LANEWAY_STATE);
  EXPECT(laneway_paths_specify(pair.there, &pair.in, 1, 1) == LANEWAY_STATE);
  GOES_ON(&other);
  EXPECT(laneway_paths_disconnect(pair.there, pair.in) == LANEWAY_DONE);
  EXPECT(next(pair.here, LANEWAY_EVENT_CLOSED).connection == pair.out);
  GOES_ON(&other);
  done(&pair);
}

// A connection that is closed, here or by its peer, leaves buffers alone and is not known any more.
static void closed_connections(void) {
  laneway_paths_options options = usual();
  struct pair pair = connected(&options);
  char here[8] = "mine", there[8] = "mine";
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 1, there, 8) == LANEWAY_DONE);
  EXPECT(laneway_paths_post_receive(pair.here, pair.out, 1, here, 8) == LANEWAY_DONE);
  EXPECT(laneway_paths_send(pair.here, pair.out, 1, "theirs", 7) == LANEWAY_DONE);
  next(pair.here, LANEWAY_EVENT_SENT);
  // It has arrived, and is not taken any more.
  EXPECT(laneway_paths_disconnect(pair.there, pair.in) == LANEWAY_DONE);
  EXPECT(next(pair.here, LANEWAY_EVENT_CLOSED).connection == pair.out);
  laneway_event event;
  EXPECT(laneway_paths_next_event(pair.there, &event) == LANEWAY_DONE);
  EXPECT(event.kind == LANEWAY_EVENT_NONE && event.path == -1);
  EXPECT(strcmp(here, "mine") == 0 && strcmp(there, "mine") == 0);
  EXPECT(laneway_paths_send(pair.here, pair.out, 1, "x", 1) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_send(pair.there, pair.in, 1, "x", 1) == LANEWAY_UNKNOWN);
  EXPECT(laneway_paths_migrate(pair.here, &pair.out, 1) == LANEWAY_UNKNOWN);
  // The handles go on.
  connect_ends(&pair, 2);
  GOES_ON(&pair);
  done(&pair);
}

// What the thread does on ARMED and on MIGRATED.
static void policies(void) {
  laneway_paths_options options = usual();
  options.by_hand = 0;
  options.on_migrated = LANEWAY_ON_MIGRATED_REARM;
  struct pair pair = connected(&options);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_ARMED, 0, 1));
  EXPECT(laneway_paths_migrate(pair.here, &pair.out, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_ARMED, 1, 0));
  EXPECT(laneway_paths_drain(pair.here, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_MIGRATED, 0, -1));
  GOES_ON(&pair);
  EXPECT(laneway_paths_undrain(pair.here, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.there, pair.in, LANEWAY_MIGRATION_ARMED, 0, 1));
  done(&pair);

  options.on_migrated = LANEWAY_ON_MIGRATED_SPECIFY;
  pair = connected(&options);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_ARMED, 0, 1));
  EXPECT(laneway_paths_migrate(pair.here, &pair.out, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_MIGRATED, 1, 0));
  EXPECT(laneway_paths_load(pair.here, &pair.out, 1) == LANEWAY_DONE);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_ARMED, 1, 0));
  done(&pair);

  options.on_migrated = LANEWAY_ON_MIGRATED_NOTHING;
  options.on_armed = LANEWAY_ON_ARMED_MIGRATE;
  pair = connected(&options);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_MIGRATED, 1, -1));
  GOES_ON(&pair);
  done(&pair);
}

struct heard {
  laneway_paths *paths;
  int armed, migrated, other, refused, migrates;
  pthread_t thread;
};

static pthread_mutex_t LOCK = PTHREAD_MUTEX_INITIALIZER;

// What the thread calls: it migrates on ARMED, and what it must not ask is refused.
static void on_event(laneway_paths *paths, const laneway_event *event, void *data) {
  struct heard *heard = data;
  pthread_mutex_lock(&LOCK);
  heard->paths = paths;
  heard->thread = pthread_self();
  if (event->kind == LANEWAY_EVENT_ARMED) {
    heard->armed++;
    heard->migrates = laneway_paths_migrate(paths, &event->connection, 1);
    const char *peer = "127.0.0.1:9";
    uint32_t number;
    heard->refused += laneway_paths_wait(paths, 1) == LANEWAY_STATE;
    heard->refused += laneway_paths_connect(paths, &peer, 1, 0, 1, &number) == LANEWAY_STATE;
    heard->refused += laneway_paths_close(paths) == LANEWAY_STATE && says("on_event");
  } else if (event->kind == LANEWAY_EVENT_MIGRATED) {
    heard->migrated++;
  } else {
    heard->other++;
  }
  pthread_mutex_unlock(&LOCK);
}

static void functions_of_the_thread(void) {
  struct heard heard = {0};
  laneway_paths_options options = usual();
  struct pair pair;
  pair.there = opened(&options);
  options.on_event = on_event;
  options.data = &heard;
  pair.here = opened(&options);
  connect_ends(&pair, 2);
  EXPECT(laneway_paths_specify(pair.here, &pair.out, 1, 1) == LANEWAY_DONE);
  EXPECT(laneway_paths_load(pair.here, &pair.out, 1) == LANEWAY_DONE);
  // Both are reported here as well.
  next(pair.here, LANEWAY_EVENT_ARMED);
  next(pair.here, LANEWAY_EVENT_MIGRATED);
  EXPECT(becomes(pair.here, pair.out, LANEWAY_MIGRATION_MIGRATED, 1, -1));
  GOES_ON(&pair);
  done(&pair);
  // Nothing is called any more, so nothing needs a lock.
  EXPECT(heard.paths == pair.here && heard.armed == 1 && heard.migrates == LANEWAY_DONE);
  EXPECT(heard.migrated == 1 && heard.other == 0 && heard.refused == 3);
  EXPECT(!pthread_equal(heard.thread, pthread_self()));
}

// Without a thread everything happens in calls.
static void without_a_thread(void) {
  laneway_paths_options options = usual();
  options.thread = 0;
  struct pair pair = {opened(&options), opened(&options), 0, 0};
  char address[64];
  const char *peer = address;
  EXPECT(laneway_paths_address(pair.there, 0, address, 64) == LANEWAY_DONE);
  EXPECT(laneway_paths_begin_connect(pair.here, &peer, 1, 3, LIMIT_MS, &pair.out) ==
         LANEWAY_DONE);
  pair.in = next_with(pair.there, LANEWAY_EVENT_ACCEPTED, pair.here).connection;
  next_with(pair.here, LANEWAY_EVENT_CONNECTED, pair.there);
  char got[4] = "";
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 1, got, 4) == LANEWAY_DONE);
  EXPECT(laneway_paths_send(pair.here, pair.out, 1, "yes", 4) == LANEWAY_DONE);
  next_with(pair.there, LANEWAY_EVENT_RECEIVED, pair.here);
  EXPECT(strcmp(got, "yes") == 0);
  // The connection has as many paths as both ends, though it was greeted on one.
  EXPECT(laneway_paths_specify(pair.here, &pair.out, 1, 2) == LANEWAY_USAGE);
  EXPECT(laneway_paths_specify(pair.here, &pair.out, 1, 1) == LANEWAY_DONE);
  EXPECT(laneway_paths_send(pair.here, pair.out, 2, NULL, 0) == LANEWAY_DONE);
  EXPECT(laneway_paths_post_receive(pair.there, pair.in, 2, NULL, 0) == LANEWAY_DONE);
  EXPECT(next_with(pair.there, LANEWAY_EVENT_RECEIVED, pair.here).length == 0);
  double begun = now();
  EXPECT(laneway_paths_wait(pair.there, 50) == LANEWAY_DONE && now() - begun < 2);
  done(&pair);
}

static void *sends(void *data) {
  const struct pair *pair = data;
  for (int i = 0; i < 500; i++)
    if (laneway_paths_send(pair->here, pair->out, (uint64_t)i, &i, sizeof i)) return data;
  return NULL;
}

// One thread sends while others wait, at both ends.
static void several_threads(void) {
  laneway_paths_options options = usual();
  struct pair pair = connected(&options);
  int got[500];
  for (int i = 0; i < 500; i++)
    EXPECT(laneway_paths_post_receive(pair.there, pair.in, (uint64_t)i, &got[i], 4) ==
           LANEWAY_DONE);
  pthread_t sender;
  EXPECT(pthread_create(&sender, NULL, sends, &pair) == 0);
  for (int i = 0; i < 500; i++) {
    EXPECT(next(pair.there, LANEWAY_EVENT_RECEIVED).id == (uint64_t)i && got[i] == i);
    EXPECT(next(pair.here, LANEWAY_EVENT_SENT).id == (uint64_t)i);
  }
  void *failed = NULL;
  EXPECT(pthread_join(sender, &failed) == 0 && failed == NULL);
  done(&pair);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  wrong_handles();
  wrong_options(argv[1]);
  wrong_peers();
  wrong_calls();
  short_buffers();
  closed_connections();
  policies();
  functions_of_the_thread();
  without_a_thread();
  several_threads();
  if (faults == 0) printf("paths as promised\n");
  return faults != 0;
}
